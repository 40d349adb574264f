"""Journals keep whole answers, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.cluster.journal import Journal, fingerprint
from mercer.errors import ClusterError


def test_what_was_recorded_is_recalled_to_the_bit(tmp_path):
    rng = np.random.default_rng(0)
    arrays = {"a": rng.normal(size=(3, 2)), "b": np.array(["x", "yz"])}
    Journal(tmp_path).record("key", arrays)
    found = Journal(tmp_path).recall("key")
    assert found.keys() == arrays.keys()
    assert all(np.array_equal(found[name], arrays[name]) for name in arrays)
    assert [path.name for path in tmp_path.iterdir()] == ["key.npz"]


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_an_answer_that_was_cut_off_is_none(tmp_path, share):
    Journal(tmp_path).record("key", {"a": np.arange(100.0)})
    path = tmp_path / "key.npz"
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    assert Journal(tmp_path).recall("key") is None


def test_reading_runs_nothing(tmp_path):
    with open(tmp_path / "key.npz", "wb") as file:
        np.savez(file, a=np.array([print], dtype=object))
    assert Journal(tmp_path).recall("key") is None


def test_a_checkpoint_that_cannot_be_a_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ClusterError, match=r"file cannot be a folder"):
        Journal(tmp_path / "file")


def test_a_checkpoint_that_cannot_be_written_is_an_error(tmp_path):
    journal = Journal(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(ClusterError, match="cannot be written"):
        journal.record("key", {"a": np.ones(1)})


def test_fingerprints_tell_values_types_and_places_apart():
    some = [
        ("a", 1), ("a", 1.0), (1, "a"), ("a1",), (np.ones(2),), (np.ones(2, np.float32),),
        (np.ones((1, 2)),), (np.array(["a"], object),), (np.array(["b"], object),), (None,), ("",),
    ]  # fmt: skip
    assert len({fingerprint(*one) for one in some}) == len(some)
