"""Settings of all tests."""

from hypothesis import settings

# Without a deadline, because the first example of a test may compile or import; derandomized, so
# that a failure on one machine is a failure on every machine.
settings.register_profile("mercer", deadline=None, derandomize=True)
settings.load_profile("mercer")
