"""A little of the fuzzing that goes on with ``make fuzz``, and all that it has ever found."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings

from tests.fuzz.judge import complaint, gram
from tests.fuzz.strategies import cases, kernels

mpmath = pytest.importorskip("mpmath")
CORPUS = json.loads((Path(__file__).parent / "corpus.json").read_text())
QUICK = settings(
    max_examples=150, deadline=None, database=None, derandomize=True,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: f"{case['machine']}-{case['kernel']}")
def test_what_was_found_is_mended(case):
    assert complaint(case) is None


@QUICK
@seed(0)
@given(cases())
def test_what_claims_to_be_solved_is(case):
    found = complaint(case)
    assert found is None, f"{found}: {json.dumps(case)}"


@settings(QUICK, max_examples=60)
@given(kernels())
def test_the_judge_and_the_kernels_mean_the_same(kernel):
    X = [[0.5, -1.0], [2.0, 0.25], [1.0, 1.0]]
    expected = np.array([[float(v) for v in row] for row in gram(kernel, X)])
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-9, atol=1e-300)


def test_a_false_certificate_is_noticed(monkeypatch):
    from mercer.solvers import margin_certificate

    case = CORPUS[0]
    monkeypatch.setattr(margin_certificate, "ENTRY_ROUNDINGS", 0)
    assert complaint(case) is None  # still not claimed
    monkeypatch.setattr(
        "mercer.machines.svm_certificates.slope_rounding",
        lambda problem, beta, *given: np.zeros(len(beta)),
    )
    wrong = dict(case, X=[[1e9 + 0.123], [1e9 - 0.456], [1e9]], y=[0, 1, 0])
    assert complaint(wrong) is not None
