"""Patching: names that answer with mercer's machines, and are given back."""

import subprocess
import sys

import pytest

import mercer.sklearn as dropin
from mercer.errors import SelectionError
from mercer.sklearn.patching import known


@pytest.fixture(autouse=True)
def nothing_stays_patched():
    yield
    dropin.unpatch()


def test_imports_after_a_patch_are_mercers_and_before_it_are_not():
    from sklearn import svm
    from sklearn.svm import SVC as before

    assert dropin.patch() == known() == dropin.patched
    from sklearn.svm import SVC as after

    assert after.__module__ == "mercer.sklearn.svm" and issubclass(after, before)
    dropin.unpatch()
    assert svm.SVC is before and dropin.patched == []


def test_some_names_and_a_block():
    import sklearn.svm

    dropin.patch("SVR")
    with dropin.patching(["sklearn.svm.SVC", "SVR"]) as names:
        assert names == ["sklearn.svm.SVR", "sklearn.svm.SVC"]
        assert sklearn.svm.SVC.__module__ == "mercer.sklearn.svm"
    assert dropin.patched == ["sklearn.svm.SVR"]
    assert sklearn.svm.SVC.__module__ == "sklearn.svm._classes"


def test_a_second_patch_remembers_the_original():
    import sklearn.svm

    dropin.patch("SVC")
    dropin.patch("SVC")
    dropin.unpatch("SVC")
    assert sklearn.svm.SVC.__module__ == "sklearn.svm._classes"


def test_unknown_names_are_refused():
    with pytest.raises(SelectionError, match="'SVG' cannot be patched; did you mean 'SV"):
        dropin.patch("SVG")


def run(*arguments):
    command = [sys.executable, "-m", "mercer.sklearn", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_script_runs_on_mercer(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nfrom sklearn.svm import SVC\nprint(SVC.__module__, __name__, sys.argv[1:])\n",
        encoding="utf-8",
    )
    found = run(script, "--fast")
    assert found.stdout.split("\n")[0] == "mercer.sklearn.svm __main__ ['--fast']"


def test_a_script_that_is_not_there_is_an_error():
    found = run("nowhere.py")
    assert found.returncode == 1 and "there is no file 'nowhere.py'" in found.stderr
