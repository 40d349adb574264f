"""Answers for very many rows: those of the machine, in their order, in whole files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC, KernelLogistic, KernelPCA, KernelRidge, Stream, sources
from mercer.cluster import Cluster, InProcess, predict
from mercer.errors import ClusterError, DomainError
from mercer.kernels import Gaussian

K = Gaussian(1.3)


def data(n=100):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, np.sin(X[:, 0])


def frame(n=100):
    X, y = data(n)
    return pd.DataFrame(X, columns=list("abc")).assign(y=y, id=np.arange(n))


def here():
    return Cluster(InProcess(travel=True))


@pytest.mark.parametrize(
    ("machine", "method"),
    [
        (KernelRidge(K, 0.1), "predict"),
        (KernelLogistic(K), "predict_proba"),
        (SVC(K), "decision_function"),
        (KernelPCA(K, 2), "transform"),
        (make_pipeline(StandardScaler(), KernelRidge(K)), "predict"),
        (LinearRegression(), "predict"),
    ],
)
def test_any_machine_answers_as_it_would_here(machine, method, tmp_path):
    X, y = data()
    y = np.where(y > 0, "u", "v") if method in ("predict_proba", "decision_function") else y
    machine = machine.fit(X, y)
    with here():
        files = predict(machine, Stream.rows(X, y, size=30), tmp_path / "new", method)
    assert [path.name for path in files] == [f"part-0000{n}.parquet" for n in range(4)]
    found = pd.read_parquet(tmp_path / "new")
    expected = getattr(machine, method)(X).reshape(100, -1)
    np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-12, atol=1e-14)
    if method == "predict_proba":
        assert list(found.columns) == ["predict_proba u", "predict_proba v"]


def test_labels_and_columns_that_are_kept(tmp_path):
    table = frame()
    table.to_parquet(tmp_path / "rows.parquet")
    machine = SVC(K).fit(table[list("abc")], np.where(table.y > 0, "u", "v"))
    stream = sources.stream(tmp_path / "rows.parquet", columns=["a", "b", "c", "id"], rows=30)
    with here():
        predict(machine, stream, tmp_path / "new", keep=["id"])
    found = pd.read_parquet(tmp_path / "new")
    assert found.id.tolist() == list(range(100))
    assert found.prediction.tolist() == machine.predict(table[list("abc")]).tolist()


def test_a_stream_inside_of_a_cluster_is_answered_there():
    X, y = data()
    machine = KernelRidge(K, 0.1).fit(X, y)
    with here() as cluster:
        found = machine.predict(Stream.rows(X, size=30))
    np.testing.assert_array_equal(found, machine.predict(Stream.rows(X, size=30)))
    assert cluster.account.workers["here"].rows == 100


def test_an_empty_chunk_has_no_file(tmp_path):
    X, y = data()
    machine = KernelRidge(K, 0.1).fit(X, y)
    with here():
        files = predict(machine, Stream([X[:40], X[:0], X[40:]]), tmp_path / "new")
        assert machine.predict(Stream([X[:40], X[:0], X[40:]])).shape == (100,)
    assert [path.name for path in files] == ["part-00000.parquet", "part-00002.parquet"]


def test_what_is_refused(tmp_path):
    X, y = data()
    machine = KernelRidge(K, 0.1).fit(X, y)
    stream = Stream.rows(X, size=30)
    with here():
        with pytest.raises(DomainError, match="rows in memory are answered by the machine"):
            predict(machine, X, tmp_path / "new")
        with pytest.raises(DomainError, match="no method 'predict_proba'"):
            predict(machine, stream, tmp_path / "new", "predict_proba")
        with pytest.raises(DomainError, match=r"no column 'id' to keep \(rows 0 to 29; worker"):
            predict(machine, stream, tmp_path / "new", keep=["id"])
        (tmp_path / "file").touch()
        with pytest.raises(ClusterError, match="file cannot be a folder"):
            predict(machine, stream, tmp_path / "file")
        predict(machine, stream, tmp_path / "new")
        with pytest.raises(ClusterError, match=r"holds Parquet files already, such as part-0"):
            predict(machine, stream, tmp_path / "new")


def test_a_folder_that_workers_have_for_themselves_is_noticed(tmp_path):
    X, y = data()
    machine = KernelRidge(K, 0.1).fit(X, y)

    class Elsewhere(InProcess):
        def result(self, ticket, seconds):
            for path in (tmp_path / "new").glob("part-00001*"):
                path.unlink()
            return super().result(ticket, seconds)

    with Cluster(Elsewhere()), pytest.raises(ClusterError, match=r"worker here wrote part-00001"):
        predict(machine, Stream.rows(X, size=30), tmp_path / "new")


def test_without_a_cluster_there_is_nobody_to_ask(tmp_path):
    X, y = data()
    machine = KernelRidge(K, 0.1).fit(X, y)
    with pytest.raises(Exception, match=r"Client of Dask|pip install"):
        predict(machine, Stream.rows(X), tmp_path / "new")
