"""A plugin of pytest: scikit-learn's names are mercer's, and outcomes go to a file.

Loaded by ``-p outcomes_plugin``, with this folder on the path, into a process of its own, before
anything of scikit-learn's tests is imported.
"""

from __future__ import annotations

import json
import os

from mercer.sklearn import patch

OUTCOMES: dict[str, str] = {}
FILES: dict[str, str] = {}


def pytest_configure():
    """Patch before any test is imported."""
    patch()


def pytest_collection_finish(session):
    """Remember in which file each test stands, which its name need not say."""
    FILES.update({item.nodeid: item.path.as_posix() for item in session.items})


def pytest_runtest_logreport(report):
    """Remember whether a test passed; what fails in its preparation fails."""
    if report.when == "call" or report.outcome != "passed":
        # A test that is expected to fail by its authors is skipped, in pytest's words.
        name = report.nodeid.partition("::")[2]
        OUTCOMES[f"{FILES[report.nodeid]}::{name}"] = report.outcome


def pytest_sessionfinish():
    """Write the outcomes to the file that the environment names."""
    with open(os.environ["MERCER_OUTCOMES"], "w", encoding="utf-8") as file:
        json.dump(OUTCOMES, file, indent=0, sort_keys=True)
