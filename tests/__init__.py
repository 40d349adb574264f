"""Tests: a package, so that no other one of this name, which some libraries install, hides it."""
