"""``python -m mercer.sklearn script.py``: run a script with scikit-learn's names patched."""

from __future__ import annotations

import os
import runpy
import sys

from mercer.sklearn.patching import patch

USAGE = "usage: python -m mercer.sklearn script.py [arguments of the script]"


def main(arguments: list[str]) -> None:
    """Run the script that is named first, as if it had been started itself."""
    if not arguments or not os.path.isfile(arguments[0]):
        found = f"; there is no file {arguments[0]!r}" if arguments else ""
        sys.exit(f"{USAGE}{found}")
    patch()
    sys.argv = arguments
    sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
    runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
