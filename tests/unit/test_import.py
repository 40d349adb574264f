"""Importing mercer is light: heavy libraries wait until something needs them."""

import subprocess
import sys

HEAVY = ("sklearn", "scipy", "pandas", "numba", "matplotlib", "torch")


def loaded_after(statement: str) -> list[str]:
    """Run `statement` in a fresh interpreter and return the heavy libraries it loaded."""
    code = f"import sys\n{statement}\nprint(*(m for m in {HEAVY!r} if m in sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return run.stdout.split()


def test_import_mercer_loads_no_heavy_library():
    assert loaded_after("import mercer") == []


def test_a_heavy_library_would_be_noticed():
    assert "scipy" in loaded_after("import scipy")
