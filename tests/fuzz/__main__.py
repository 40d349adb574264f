"""Fuzzing that goes on: ``python -m tests.fuzz --minutes 10 --seed 0``.

Each round has a seed of its own, so that a run can be repeated. What is found is made as small as
it can be, printed, and put into the corpus, which ``make test`` tries ever after.
"""

import argparse
import json
import sys
import time
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.judge import complaint
from tests.fuzz.strategies import cases

CORPUS = Path(__file__).parent / "corpus.json"


class Failed(AssertionError):
    """An answer that claims too much."""


def one_round(number, count):
    """Try some cases; return the smallest one that fails with the complaint, or None."""
    last = []

    @seed(number)
    @settings(
        max_examples=count, deadline=None, database=None,
        suppress_health_check=list(HealthCheck), phases=(Phase.generate, Phase.shrink),
    )  # fmt: skip
    @given(cases())
    def attempt(case):
        found = complaint(case)
        if found is not None:
            last[:] = [(case, found)]
            raise Failed

    try:
        attempt()
    except Failed:
        return last[0]
    return None


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=200, help="in a round")
    asked = parser.parse_args()
    end, number, bad = time.monotonic() + 60 * asked.minutes, asked.seed, 0
    while time.monotonic() < end:
        found = one_round(number, asked.cases)
        number += 1
        if found is not None:
            case, words = found
            bad += 1
            print(f"seed {number - 1}: {words}\n  {json.dumps(case)}", flush=True)
            known = json.loads(CORPUS.read_text())
            if case not in known:
                lines = ",\n ".join(json.dumps(one) for one in [*known, case])
                CORPUS.write_text(f"[\n {lines}\n]\n")
    rounds = number - asked.seed
    print(f"{rounds} rounds of up to {asked.cases} cases from seed {asked.seed}: {bad} found")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
