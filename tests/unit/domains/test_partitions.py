"""Dask's collections are streams: partition by partition, each made where it is needed."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from mercer import (
    SVC,
    KernelLogistic,
    KernelPCA,
    KernelRidge,
    KernelRidgeClassifier,
    Nystrom,
    Plan,
    Stream,
)
from mercer.cluster import Cluster, InProcess, predict
from mercer.domains import VECTORS, in_passes, is_stream
from mercer.errors import DomainError
from mercer.kernels import Gaussian

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

K = Gaussian(1.3)
PLAN = Plan(approximate=Nystrom(15))


def table(n=200):
    rng = np.random.default_rng(0)
    found = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    return found.assign(y=np.sin(found.a), kind=np.where(found.b > 0, "u", "v"))


def test_partitions_of_a_frame_are_chunks():
    frame = dd.from_pandas(table(), npartitions=4)
    stream = Stream.rows(frame[["a", "b"]], frame["y"])
    chunks = list(stream.read(VECTORS))
    assert in_passes(frame) and is_stream(frame) and len(chunks) == 4
    assert chunks[0].points.names == ("a", "b")
    np.testing.assert_array_equal(np.concatenate([c.target for c in chunks]), table().y)
    for part in stream.parts():
        again = pickle.loads(pickle.dumps(part)).read()
        assert list(again[0].columns) == ["a", "b"] and again[2] is None
        assert len(pickle.dumps(part)) < 20_000  # its own rows, not those of the others


def test_an_array_is_cut_along_rows_only():
    X = table()[["a", "b", "c"]].to_numpy()
    stream = Stream.rows(da.from_array(X, chunks=(60, 2)), da.from_array(X[:, 0], chunks=50))
    assert [part.count for part in stream.parts()] == [60, 60, 60, 20]
    np.testing.assert_array_equal(
        np.concatenate([c.points.array for c in stream.read(VECTORS)]), X
    )


@pytest.mark.parametrize(
    ("make", "target"),
    [
        (lambda: KernelRidge(K, 0.1, follow=PLAN), "y"),
        (lambda: KernelRidgeClassifier(K, 0.1, follow=PLAN), "kind"),
        (lambda: KernelLogistic(K, penalty=0.1, follow=PLAN), "kind"),
        (lambda: SVC(K, follow=PLAN), "kind"),
        (lambda: KernelPCA(K, 2, follow=PLAN), None),
    ],
)
def test_machines_learn_from_a_frame_as_from_its_rows(make, target):
    rows = table()
    frame = dd.from_pandas(rows, npartitions=4)
    X, y = frame[["a", "b", "c"]], None if target is None else frame[target]
    sizes = [len(part) for part in frame.partitions]
    assert sizes == [50] * 4
    stream = Stream.rows(rows[["a", "b", "c"]], None if target is None else rows[target], size=50)
    here = make().fit(stream)
    with Cluster(InProcess(travel=True)):
        there = make().fit(X) if y is None else make().fit(X, y)
        answered = getattr(there, "predict", getattr(there, "transform", None))(X)
        assert make().plan(X).device == "cluster"
    assert np.array_equal(here.function_.coefficients, there.function_.coefficients)
    assert answered.shape[0] == 200 and list(there.feature_names_in_) == ["a", "b", "c"]


def test_predictions_of_a_frame_are_written(tmp_path):
    rows = table()
    machine = KernelRidge(K, 0.1).fit(rows[["a", "b", "c"]], rows.y)
    with Cluster(InProcess(travel=True)):
        predict(machine, dd.from_pandas(rows[["a", "b", "c"]], npartitions=3), tmp_path / "new")
    found = pd.read_parquet(tmp_path / "new").prediction
    np.testing.assert_allclose(found, machine.predict(rows[["a", "b", "c"]]), rtol=1e-12)


def test_targets_must_have_the_same_partitions():
    rows = table()
    frame = dd.from_pandas(rows, npartitions=4)
    with pytest.raises(DomainError, match="y of a Dask collection must be one too"):
        Stream.rows(frame[["a"]], rows.y)
    with pytest.raises(DomainError, match="y has 2 partitions and X 4"):
        Stream.rows(frame[["a"]], dd.from_pandas(rows, npartitions=2)["y"])
