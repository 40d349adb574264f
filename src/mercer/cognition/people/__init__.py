"""People: groups of them, with parameters that differ, and how much is known about each."""
