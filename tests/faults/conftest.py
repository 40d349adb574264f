"""Faults on purpose: how many were tried and survived is said at the end of the run."""

import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/faults" in str(item.path):
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def survived(record_property):
    """Count the faults of a test; one that is not survived fails it."""

    def count(number):
        record_property("faults", number)

    return count


def pytest_terminal_summary(terminalreporter):
    tried = {}
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            for name, value in getattr(report, "user_properties", []):
                if name == "faults":
                    tried[report.nodeid.split("::")[-1]] = value
    if tried:
        terminalreporter.section("faults tried and survived")
        for name, value in tried.items():
            terminalreporter.write_line(f"{value:6}  {name}")
        terminalreporter.write_line(f"{sum(tried.values()):6}  in all")
