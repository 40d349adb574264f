"""LIBSVM's text files: what is read, and in which line something is wrong."""

import bz2
import gzip

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from mercer import KernelRidge
from mercer.datasets import read_libsvm
from mercer.errors import DomainError


@pytest.fixture
def write(tmp_path):
    def write(text, name="examples.txt"):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def test_labels_and_sparse_rows(write):
    data = read_libsvm(write("+1 1:0.5 3:2\n\n# a comment\n-1 qid:4 2:1e-3 # and another\n2\n"))
    np.testing.assert_array_equal(data.X.toarray(), [[0.5, 0, 2], [0, 1e-3, 0], [0, 0, 0]])
    assert data.y.tolist() == [1, -1, 2] and data.y.dtype == np.int64
    assert data.X.format == "csr" and len(data) == 3


def test_targets_that_are_not_whole_stay_as_they_are(write):
    _, y = read_libsvm(write("0.5 1:1\n2 1:2\n"))
    assert y.tolist() == [0.5, 2.0] and y.dtype == np.float64


@pytest.mark.parametrize(("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress)])
def test_packed_files(write, suffix, pack):
    assert read_libsvm(write(pack(b"1 1:2\n"), f"a.{suffix}")).X.toarray() == 2.0
    with pytest.raises(DomainError, match=rf"line 2 of .*a.{suffix} has 'x:1'"):
        read_libsvm(write(pack(b"1 1:2\n1 x:1\n"), f"a.{suffix}"))
    with pytest.raises(DomainError, match=rf"a.{suffix} cannot be read: "):
        read_libsvm(write(pack(b"1 1:2\n" * 1000)[:-12], f"a.{suffix}"))


def test_width_for_files_in_which_columns_do_not_occur(write):
    train, test = write("1 1:1 4:1\n2 2:1\n", "train"), write("1 2:1\n", "test")
    X, y = read_libsvm(train)
    new, _ = read_libsvm(test, width=X.shape[1])
    assert new.shape == (1, 4)
    assert KernelRidge("linear").fit(X, y).predict(new).shape == (1,)
    with pytest.raises(DomainError, match=r"line 1 of .* has the index 4, but width=3"):
        read_libsvm(train, width=3)


def test_round_trip_with_indices_from_zero(tmp_path):
    X = np.round(np.random.default_rng(0).normal(size=(5, 4)), 3)
    dump_svmlight_file(X, np.arange(5), str(tmp_path / "a"), zero_based=True)
    data = read_libsvm(tmp_path / "a", zero_based=True)
    np.testing.assert_allclose(data.X.toarray(), X)
    with pytest.raises(
        DomainError, match=r"line 1 of .*index 0, but indices count from 1; or pass"
    ):
        read_libsvm(tmp_path / "a")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 1:2\ncat 1:2\n", r"line 2 of .*examples.txt begins with 'cat', but a line begins"),
        ("1,2 1:2\n", r"line 1 .* begins with '1,2'"),
        ("nan 1:2\n", r"line 1 .* begins with 'nan', but a line begins with a finite number"),
        ("1 1:2\n\n1 1:two\n", r"line 3 .* has '1:two', but an entry is index:value"),
        ("1 1:2 3\n", r"line 1 .* has '3', but an entry is index:value"),
        ("1 -1:2\n", r"line 1 .* has '-1:2'"),
        ("1 3:1 2:1\n", r"line 1 .* has the index 2 after 3, but indices must grow"),
        ("1 3:1 3:1\n", r"line 1 .* has the index 3 after 3"),
        ("1 99999999999:1\n", r"line 1 .* has the index 99999999999, but 2147483647 is the large"),
        ("", r"holds no examples"),
        ("# nothing\n", r"holds no examples"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(write, text, words):
    with pytest.raises(DomainError, match=words):
        read_libsvm(write(text))


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(DomainError, match=r"there is no file .*nothing.txt"):
        read_libsvm(tmp_path / "nothing.txt")
    with pytest.raises(DomainError, match=r"cannot be read"):
        read_libsvm(tmp_path)
    with pytest.raises(DomainError, match=r"width must be a whole number from 1 on, found 0"):
        read_libsvm(tmp_path, width=0)
