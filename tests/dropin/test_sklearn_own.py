"""scikit-learn's own tests of its kernel machines, run on mercer's.

They are those of the installed wheel; nothing of them is here. What does not pass is in
`known_failures.json` with its reason, and a test that begins to pass must leave that list.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import sklearn

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SUITES = (
    ("svm/tests", "tests/test_kernel_ridge.py", "decomposition/tests/test_kernel_pca.py"),
    ("gaussian_process/tests",),
    ("tests/test_kernel_approximation.py", "model_selection/tests/test_search.py"),
)
VERSION = "1.9"  # whose tests the list of failures is about
LEAST_SHARE = 0.95  # of the tests of a suite that passes
MAX_SECONDS = 900


def outcomes(suite: tuple[str, ...], folder: Path) -> dict[str, str]:
    """Return how each of scikit-learn's tests of some files and folders ended, by its name."""
    places = [str(Path(sklearn.__file__).parent / part) for part in suite]
    found = folder / "outcomes.json"
    paths = os.pathsep.join([str(ROOT / "src"), str(HERE)])
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "outcomes_plugin", "-p", "no:cacheprovider",
         "-c", os.devnull, "--rootdir", str(folder), "-q", "--tb=no", *places],
        env={**os.environ, "PYTHONPATH": paths, "MERCER_OUTCOMES": str(found)},
        capture_output=True, text=True, timeout=MAX_SECONDS, check=False, cwd=folder,
    )  # fmt: skip
    assert found.exists(), run.stdout[-2000:] + run.stderr[-2000:]
    results = json.loads(found.read_text(encoding="utf-8"))
    return {name.rsplit("sklearn/", 1)[1]: outcome for name, outcome in results.items()}


@pytest.mark.slow
@pytest.mark.skipif(
    not sklearn.__version__.startswith(VERSION), reason=f"the list is about {VERSION}"
)
@pytest.mark.parametrize("suite", SUITES)
def test_own_tests_pass_but_for_those_that_are_known_not_to(suite, tmp_path):
    known = json.loads((HERE / "known_failures.json").read_text(encoding="utf-8"))
    found = outcomes(suite, tmp_path)
    failed = {name for name, outcome in found.items() if outcome == "failed"}
    listed = {name for reason in known.values() for name in reason if name.startswith(suite)}
    assert sorted(failed - listed) == [], "these fail and are not in the list"
    assert sorted(listed - failed) == [], "these pass and must leave the list"
    passed = sum(outcome == "passed" for outcome in found.values())
    assert passed >= LEAST_SHARE * (passed + len(failed)), (passed, len(failed))


def test_every_known_failure_has_a_reason():
    known = json.loads((HERE / "known_failures.json").read_text(encoding="utf-8"))
    assert all(len(reason) > 20 and names for reason, names in known.items())
    assert all(name.startswith(sum(SUITES, ())) for names in known.values() for name in names)
