"""Many programs climbed on a device: the certificate of each holds, whatever memory there is."""

import numpy as np
import pytest

from mercer.gram.climbing import BoxProgram
from mercer.gram.device import OnDevice, climber
from mercer.gram.device.climber import ArrayOnDevice
from mercer.gram.device.pairs import optimize_sets, optimize_sets_by_torch, take_from_slopes
from mercer.kernels import Gaussian

torch = pytest.importorskip("torch")
rng = np.random.default_rng(0)
N = 240
X = rng.normal(size=(N, 3))
SIGNS = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=N) > 0, 1.0, -1.0)
K = Gaussian(1.0)
GRAM = K(X)
TOL = 1e-4


def of_signs(items, C=3.0):
    z = SIGNS[items]
    return BoxProgram(
        items, z, np.minimum(C * z, 0), np.maximum(C * z, 0), 0 * z, np.zeros(len(z), int)
    )


def programs():
    """Classes, a regression whose items come twice, and two groups with a start of their own."""
    every = np.arange(N)
    t = np.concatenate([X[:, 2] - 0.1, X[:, 2] + 0.1])
    none, one = np.zeros(N), np.ones(N)
    tube = BoxProgram(
        np.tile(every, 2), t, np.concatenate([none, -one]), np.concatenate([one, none]), 0 * t,
        np.zeros(2 * N, int),
    )  # fmt: skip
    first, start = SIGNS > 0, np.zeros(N)
    start[np.flatnonzero(first)[:30]], start[np.flatnonzero(~first)[:30]] = 1.0, -1.0
    groups = BoxProgram(
        every, none, np.where(first, 0.0, -1.0), np.where(first, 1.0, 0.0), start,
        (~first).astype(int),
    )  # fmt: skip
    return [of_signs(every), of_signs(every[::2]), tube, groups]


def require_optimal(program, found, tol=TOL):
    beta, items = found.beta, program.items
    assert (beta >= program.lower).all() and (beta <= program.upper).all()
    slopes = program.target - GRAM[np.ix_(items, items)] @ beta
    np.testing.assert_allclose(found.slopes, slopes, atol=1e-5)
    for g in np.unique(program.group):
        own = program.group == g
        assert beta[own].sum() == pytest.approx(program.start[own].sum(), abs=1e-9)
        top = slopes[own & (beta < program.upper)].max(initial=-np.inf)
        assert top - slopes[own & (beta > program.lower)].min(initial=np.inf) <= tol + 2e-5
    assert found.history[-1] <= tol


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("stored", [True, False])
def test_all_kinds_of_programs(precision, stored, monkeypatch):
    monkeypatch.setattr(climber, "MAX_WORKING_ALONE", 64)
    if not stored:
        monkeypatch.setattr(climber, "fits", lambda *_: False)
    gram = OnDevice(K, K.admit(X), "cpu", precision)
    for program, found in zip(programs(), gram.climb(programs(), TOL, 10**6), strict=True):
        require_optimal(program, found)


def test_many_programs_of_all_items_follow_by_a_product(monkeypatch):
    monkeypatch.setattr(climber, "DENSE_PROGRAMS", 3)
    monkeypatch.setattr(climber, "MAX_WORKING_ALONE", 64)
    many = [of_signs(np.arange(N), C) for C in (0.1, 1.0, 10.0, 100.0)]
    found = ArrayOnDevice(GRAM, torch.device("cpu")).climb(many, TOL, 10**6)
    for program, one in zip(many, found, strict=True):
        require_optimal(program, one)


def test_few_steps_are_an_honest_answer():
    [found] = ArrayOnDevice(GRAM, torch.device("cpu")).climb([of_signs(np.arange(N))], TOL, 5)
    program = of_signs(np.arange(N))
    assert found.steps == 5 and found.history[-1] > TOL
    np.testing.assert_allclose(found.slopes, program.target - GRAM @ found.beta, atol=1e-12)


def test_copies_of_an_item_do_not_stop_it(monkeypatch):
    monkeypatch.setattr(climber, "MAX_WORKING_ALONE", 32)
    items = np.repeat(np.arange(60), 4)
    program = of_signs(items)
    [found] = ArrayOnDevice(GRAM, torch.device("cpu")).climb([program], TOL, 10**6)
    require_optimal(program, found)


@pytest.mark.parametrize("place", range(12))
def test_a_full_memory_at_every_place_in_turn(place, monkeypatch):
    """The answer is the same, or None: whoever asked then goes on without the device."""
    monkeypatch.setattr(climber, "MAX_WORKING_ALONE", 64)
    calls = {"count": 0}

    def once(function):
        def limited(*given, **named):
            calls["count"] += 1
            if calls["count"] == place + 1:
                raise torch.OutOfMemoryError("CUDA out of memory")
            return function(*given, **named)

        return limited

    monkeypatch.setattr(climber, "allocate", once(climber.allocate))
    monkeypatch.setattr(climber, "optimize_sets", once(climber.optimize_sets))
    monkeypatch.setattr(climber, "take_from_slopes", once(climber.take_from_slopes))
    for name in ("block", "values"):
        whole = climber.StoredGram
        monkeypatch.setattr(whole, name, once(getattr(whole, name)))
    gram = OnDevice(K, K.admit(X), "cpu", "double")
    some = programs()[:2]
    for program, found in zip(some, gram.climb(some, TOL, 10**6), strict=True):
        require_optimal(program, found)
    assert calls["count"] > place


def test_no_room_at_all(monkeypatch):
    def full(*_):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(climber, "optimize_sets", full)
    gram = OnDevice(K, K.admit(X), "cpu", "double")
    assert gram.climb(programs()[:1], TOL, 100) is None


@pytest.mark.parametrize("groups", [1, 2])
def test_the_kernel_takes_the_steps_of_torch(groups, monkeypatch):
    """In Python where there is no GPU, which takes long, so that programs are tiny."""
    pytest.importorskip("triton")
    place = "cuda" if torch.cuda.is_available() else "cpu"
    if place == "cpu":
        monkeypatch.setenv("TRITON_INTERPRET", "1")
        monkeypatch.setattr("mercer.gram.device.pairs.available", lambda device: True)
    w = 16
    given = []
    for seed in range(2):
        Z = np.random.default_rng(seed).normal(size=(w, 2))
        z = np.where(Z[:, 0] > 0, 1.0, -1.0)
        b = z if groups == 2 else 0 * z
        G = np.exp(-((Z[:, None] - Z) ** 2).sum(-1))
        F = z - G @ b
        given.append((G.astype(np.float32), F, b, np.minimum(2 * z, 0), np.maximum(2 * z, 0)))
    arrays = [torch.tensor(np.stack(one), device=place) for one in zip(*given, strict=True)]
    group = (arrays[4] > 0).int() if groups == 2 else None
    goals = torch.full((2,), 1e-3, dtype=torch.float64, device=place)
    copies, start = [one.clone() for one in arrays], arrays[2].clone()
    limit = 60 if place == "cpu" else 2000
    steps = optimize_sets_by_torch(*arrays, group, goals, limit)
    others = optimize_sets(*copies, group, goals, limit)
    if place == "cpu":
        assert torch.equal(others, steps) and int(steps.min()) > 3
        torch.testing.assert_close(copies[2], arrays[2], atol=1e-12, rtol=0)
        torch.testing.assert_close(copies[1], arrays[1], atol=1e-9, rtol=0)
        return
    # A GPU rounds otherwise, and of equal slopes another may come first; the optimum is the same.
    assert int(steps.max()) < limit > int(others.max())
    for sets in (arrays, copies):
        G, F, beta = (one.double() for one in sets[:3])
        slopes = arrays[1] + torch.einsum("pij,pj->pi", G, arrays[2] - beta)
        torch.testing.assert_close(F, slopes, atol=1e-9, rtol=0)
        torch.testing.assert_close(beta.sum(dim=1), start.sum(dim=1), atol=1e-9, rtol=0)
    gains = [((one[2] - start) * (arrays[1] + one[1])).sum(dim=1) for one in (arrays, copies)]
    torch.testing.assert_close(gains[0], gains[1], atol=1e-2, rtol=0)


def test_slopes_follow():
    F = torch.zeros(2, 5, dtype=torch.float64)
    items = torch.tensor(rng.integers(0, N, (2, 5)).astype(np.int32))
    rows = torch.tensor(rng.integers(0, N, (2, 4)).astype(np.int32))
    change = torch.tensor(rng.normal(size=(2, 4)))
    take_from_slopes(F, torch.tensor(GRAM), items, rows, change)
    for p in range(2):
        expected = -GRAM[np.ix_(items[p], rows[p])] @ change[p].numpy()
        np.testing.assert_allclose(F[p].numpy(), expected, atol=1e-12)
