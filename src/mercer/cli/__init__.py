"""The command ``mercer``."""

from mercer.cli.app import app, main

__all__ = ["app", "main"]
