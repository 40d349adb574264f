"""Streams on a cluster: the bits of one computer, and every pass once."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mercer import KernelLogistic, KernelPCA, KernelRidge, Nystrom, Plan, Stream, sources
from mercer.cluster import Cluster, InProcess, current
from mercer.domains import STRINGS, VECTORS, Streamed
from mercer.errors import DomainError, PlanError
from mercer.gram.cluster_rows import survey_on
from mercer.gram.cluster_sketch import CenterFormula, ClusterSketch
from mercer.gram.sketch import CenterSketch
from mercer.gram.whitening import Whitening
from mercer.kernels import Gaussian, Linear, Spectrum

K = Gaussian(1.3)
N = 230


def data(seed=0, n=N):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + np.sin(3 * X[:, 1]), rng.random(n)


def travelling(**given):
    """A cluster here, to which everything is pickled."""
    return Cluster(InProcess(travel=True), **given)


def test_every_question_has_the_bits_of_one_computer():
    X, y, w = data()
    stream, Z = Stream.rows(X, y, size=20), VECTORS.admit(X[:11])
    survey = stream.survey(VECTORS, 50)
    here = CenterSketch(K, Streamed(stream, VECTORS, survey), Z)
    with travelling() as cluster:
        rows = survey_on(cluster, stream, VECTORS, 50)
        there = ClusterSketch(CenterFormula(K, Z, False), rows)
        A, V = np.linspace(-1, 1, 22).reshape(11, 2), np.column_stack([y, w])
        white = Whitening(here.core())
        pairs = [
            (one.product(A), one.adjoint(V), one.normal(A, w), one.moments(w),
             *one.moments_and_adjoint(V, w), *one.whitened_moments(white, V),
             one.diagonal_sum(Linear()), one.sampled(survey.places))
            for one in (here, there)
        ]  # fmt: skip
    for mine, theirs in zip(*pairs, strict=True):
        assert np.array_equal(mine, theirs)


@pytest.mark.parametrize("known", [True, False])
def test_a_survey_is_that_of_one_computer(known):
    X, y, w = data()
    if known:
        stream = Stream.rows(X, y, w, size=32)
    else:  # nobody knows how many rows a function will give
        stream = Stream.numbered(lambda n: (X[7 * n : 7 * n + 7], y[7 * n : 7 * n + 7]), 33)
    mine = stream.survey(VECTORS, 40, seed=3)
    theirs = survey_on(Cluster(InProcess()), stream, VECTORS, 40, seed=3).survey
    for name in ("count", "chunks", "largest", "width", "bytes", "form"):
        assert getattr(mine, name) == getattr(theirs, name), name
    for name in ("target", "places"):
        assert np.array_equal(getattr(mine, name), getattr(theirs, name))
    assert (mine.weights is None) == (theirs.weights is None)
    assert np.array_equal(mine.sample.array, theirs.sample.array)


def test_strings_and_empty_chunks():
    words = [["cat", "hat"], [], ["dog", "fog", "cog"]]
    stream = Stream(words)
    mine = stream.survey(STRINGS, 4)
    theirs = survey_on(travelling(), stream, STRINGS, 4).survey
    assert (mine.count, mine.chunks) == (theirs.count, theirs.chunks) == (5, 2)
    assert list(mine.sample.texts) == list(theirs.sample.texts)


def machines():
    plan = Plan(approximate=Nystrom(15))
    return {
        "ridge": KernelRidge(K, 1e-2, follow=plan),
        "logistic": KernelLogistic(K, penalty=0.1, follow=plan),
        "pca": KernelPCA(K, 3, follow=plan),
    }


@pytest.mark.parametrize("name", machines())
def test_fits_have_the_bits_of_one_computer(name):
    X, y, _ = data()
    y = np.where(y > 0, "yes", "no") if name == "logistic" else y
    stream = Stream.rows(X, None if name == "pca" else y, size=30)
    here = machines()[name].fit(stream)
    with travelling() as cluster:
        there = machines()[name].fit(stream)
    assert there.plan_.device == "cluster" and here.plan_.device == "cpu"
    assert np.array_equal(here.function_.coefficients, there.function_.coefficients)
    assert cluster.account.workers["here"].rows >= 3 * N


def test_a_fit_on_a_cluster_answers_without_it():
    X, y, _ = data()
    machine = KernelRidge(K, 1e-2, follow=Plan(approximate=Nystrom(15), device="cluster"))
    with travelling():
        machine.fit(Stream.rows(X, y, size=30))
    assert current() is None and np.isfinite(machine.predict(X)).all()


# ---- what is written down -----------------------------------------------------------------------


def mapped(folder, X):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def fitted(folder, X, y, machine=None):
    machine = machine or KernelRidge(K, 1e-2, follow=Plan(approximate=Nystrom(15)))
    with Cluster(InProcess(), checkpoint=folder) as cluster:
        machine.fit(Stream.rows(X, y, size=30))
    return machine.dual_coef_, cluster.account


def test_a_second_fit_reads_nothing_and_finds_the_same(tmp_path):
    X, y, _ = data()
    X = mapped(tmp_path, X)
    first, account = fitted(tmp_path / "notes", X, y)
    again, other = fitted(tmp_path / "notes", X, y)
    assert np.array_equal(first, again)
    assert account.recalled == 0 and other.recalled == other.passes == account.passes
    assert not other.workers


def test_an_interrupted_fit_goes_on_where_it_was(tmp_path):
    X, y, _ = data()
    X = mapped(tmp_path, X)
    expected, account = fitted(None, X, y)

    class Interrupted(InProcess):
        left = 20  # tasks, of which a pass has nine and the last sum has one

        def run(self, ticket, given):
            self.left -= 1
            if not self.left:
                raise KeyboardInterrupt
            return super().run(ticket, given)

    machine = KernelRidge(K, 1e-2, follow=Plan(approximate=Nystrom(15)))
    with (
        pytest.raises(KeyboardInterrupt),
        Cluster(Interrupted(), checkpoint=tmp_path / "notes") as first,
    ):
        machine.fit(Stream.rows(X, y, size=30))
    found, second = fitted(tmp_path / "notes", X, y)
    assert np.array_equal(found, expected)
    assert second.recalled >= 1 and second.passes == account.passes
    done = first.account.passes + second.passes - second.recalled
    assert done <= account.passes + 1  # at most one pass was made twice


def test_a_checkpoint_knows_other_data_targets_and_kernels(tmp_path):
    X, y, _ = data()
    notes = tmp_path / "notes"
    fitted(notes, X, y)
    other = KernelRidge(Gaussian(0.7), 1e-2, follow=Plan(approximate=Nystrom(15)))
    for rows, target, machine in ((X + 1, y, None), (X, -y, None), (X, y, other)):
        found, _ = fitted(notes, rows, target, machine)
        expected, _ = fitted(None, rows, target, machine)
        assert np.array_equal(found, expected)


def test_a_checkpoint_knows_which_column_of_a_file_was_learned(tmp_path):
    X, y, _ = data()
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y, z=-y)
    frame.to_parquet(tmp_path / "rows.parquet")
    found = {}
    for notes in (tmp_path / "notes", None):
        for target in "yz":
            stream = sources.stream(tmp_path / "rows.parquet", target, list("abc"), rows=50)
            with Cluster(InProcess(), checkpoint=notes):
                machine = KernelRidge(K, 1e-2, follow=Plan(approximate=Nystrom(15)))
                found[notes, target] = machine.fit(stream).dual_coef_
    for target in "yz":
        assert np.array_equal(found[tmp_path / "notes", target], found[None, target])


# ---- what is refused ----------------------------------------------------------------------------


def test_rows_that_change_between_passes_are_refused_with_their_chunk():
    X, y, _ = data()
    seen = []

    def shifting(number):
        seen.append(number)
        return X[10 * number : 10 * number + 10] + (seen.count(3) == 3) * (number == 3), y[:10]

    shifting.__name__ = "shifting"
    machine = KernelRidge(K, 1e-2, follow=Plan(approximate=Nystrom(15)))
    message = r"chunk 3: the rows are not what they were.*number 3 of shifting; worker here"
    with Cluster(InProcess()), pytest.raises(DomainError, match=message):
        machine.fit(Stream.numbered(shifting, 10))


def test_a_file_that_lacks_a_column_is_named(tmp_path):
    X, y, _ = data()
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y)
    frame.to_parquet(tmp_path / "1.parquet")
    frame.drop(columns="b").to_parquet(tmp_path / "2.parquet")
    machine = KernelRidge(K, 1e-2, follow=Plan(approximate=Nystrom(15)))
    with travelling(), pytest.raises(DomainError, match=r"2\.parquet has no column 'b'"):
        machine.fit(sources.stream(tmp_path, "y"))


def test_a_file_that_workers_do_not_see_is_named_with_the_worker(tmp_path):
    X, y, _ = data()
    path = tmp_path / "rows.parquet"
    pd.DataFrame(X, columns=list("abc")).assign(y=y).to_parquet(path)

    class Elsewhere(InProcess):
        def run(self, ticket, given):
            path.unlink(missing_ok=True)
            return super().run(ticket, given)

    machine = KernelRidge(K, 1e-2, follow=Plan(approximate=Nystrom(15)))
    with (
        Cluster(Elsewhere(), attempts=1),
        pytest.raises(DomainError, match=r"rows\.parquet.*worker here"),
    ):
        machine.fit(sources.stream(path, "y"))


def test_chunks_of_one_class_and_empty_files_are_no_trouble(tmp_path):
    X, y, _ = data()
    order = np.argsort(y)
    frame = pd.DataFrame(X, columns=list("abc")).assign(kind=np.where(y > 0, "u", "v"))
    frame = frame.iloc[order]
    frame.to_parquet(tmp_path / "2.parquet", row_group_size=40)
    frame.iloc[:0].to_parquet(tmp_path / "1.parquet")
    stream = sources.stream(tmp_path, "kind", rows=40)
    here = machines()["logistic"].fit(stream)
    with travelling():
        there = machines()["logistic"].fit(stream)
    assert np.array_equal(here.function_.coefficients, there.function_.coefficients)


def test_a_stream_without_parts_says_what_to_use():
    X, y, _ = data()
    machine = KernelRidge(K, 1e-2, follow=Plan(approximate=Nystrom(15)))
    with travelling(), pytest.raises(DomainError, match=r"one after the other.*Stream\.numbered"):
        machine.fit(Stream(lambda: iter([(X, y)])))


def test_items_in_memory_are_no_stream():
    X, y, _ = data()
    plan = Plan(approximate=Nystrom(15), device="cluster")
    with travelling(), pytest.raises(PlanError, match=r"use a Stream"):
        KernelRidge(K, 1e-2, follow=plan).fit(X, y)


def test_a_row_that_is_no_number_is_named_with_its_chunk_and_worker():
    X, y, _ = data()
    X[77, 1] = np.nan
    machine = KernelRidge(K, 1e-2, follow=Plan(approximate=Nystrom(15)))
    with travelling(), pytest.raises(DomainError, match=r"chunk 2, .*NaN.*rows 60 to 89; worker"):
        machine.fit(Stream.rows(X, y, size=30))


def test_structured_things_are_compared_on_workers_too():
    rng = np.random.default_rng(0)
    words = [["".join(rng.choice(list("ab"), 8)) for _ in range(15)] for _ in range(4)]
    y = [np.array([word.count("a") for word in some], float) for some in words]
    chunks = list(zip(words, y, strict=True))
    machine = KernelRidge(Spectrum(2), 0.1, follow=Plan(approximate=Nystrom(12)))
    here = machine.fit(Stream(chunks)).dual_coef_
    with travelling():
        there = machine.fit(Stream(chunks)).dual_coef_
    assert np.array_equal(here, there)
