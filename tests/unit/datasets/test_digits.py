"""USPS digits: read where they are, downloaded with a checked sum, otherwise a clear refusal."""

import gzip

import numpy as np
import pytest

from mercer.datasets import digits as module
from mercer.datasets import usps
from mercer.errors import DomainError


@pytest.fixture
def arrays():
    rng = np.random.default_rng(0)
    made = {}
    for part, count in (("train", 12), ("test", 5)):
        made[f"X_{part}"] = (rng.integers(-1000, 1001, (count, 256)) / 1000).astype(np.float32)
        made[f"y_{part}"] = rng.integers(0, 10, count).astype(np.uint8)
    return made


@pytest.fixture
def alone(tmp_path, monkeypatch):
    """No data folder, an empty cache, and addresses that lead to `tmp_path`."""
    monkeypatch.delenv("MERCER_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "ADDRESS", f"file://{tmp_path}/zip.{{part}}.gz")
    return tmp_path


def publish(folder, arrays):
    """Write the digits as the public files have them: text with four decimals and a last space."""
    for part in ("train", "test"):
        rows = np.column_stack([arrays[f"y_{part}"], arrays[f"X_{part}"]])
        text = "".join(" ".join(f"{v:.4f}" for v in row) + " \n" for row in rows)
        (folder / f"zip.{part}.gz").write_bytes(gzip.compress(text.encode()))


def test_digits_are_read_from_the_data_folder(tmp_path, monkeypatch, arrays):
    (tmp_path / "usps").mkdir()
    np.savez(tmp_path / "usps" / "usps.npz", **arrays)
    monkeypatch.setenv("MERCER_DATA", str(tmp_path))
    digits = usps(download=False)
    assert np.array_equal(digits.X, arrays["X_train"])
    assert np.array_equal(digits.extra["y_test"], arrays["y_test"])
    assert digits.extra["shape"] == (16, 16)


def test_a_given_path_comes_first(tmp_path, arrays):
    np.savez(tmp_path / "mine.npz", **arrays)
    assert len(usps(tmp_path / "mine.npz")) == 12


def test_a_download_is_checked_and_kept(alone, monkeypatch, arrays):
    publish(alone, arrays)
    monkeypatch.setattr(module, "SHA256", module._sum(arrays))
    digits = usps()
    np.testing.assert_array_equal(digits.X, arrays["X_train"])
    assert digits.X.dtype == np.float32 and digits.y.dtype == np.uint8
    for part in ("train", "test"):
        (alone / f"zip.{part}.gz").unlink()
    np.testing.assert_array_equal(usps(download=False).X, digits.X)
    assert [p.name for p in (alone / "cache" / "mercer" / "usps").iterdir()] == ["usps.npz"]


def test_another_content_is_refused_and_not_kept(alone, arrays):
    publish(alone, arrays)
    with pytest.raises(DomainError, match="SHA-256"):
        usps()
    assert not (alone / "cache").exists()


def test_the_sum_notices_a_thousandth(arrays):
    before = module._sum(arrays)
    arrays["X_test"][3, 7] += 0.001
    assert module._sum(arrays) != before


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"not gzip", "could not be read"), (gzip.compress(b"a b"), "numbers")],
    ids=["not compressed", "not numbers"],  # compressed bytes carry the time of day
)
def test_rubbish_from_the_network_is_a_clear_error(alone, content, message):
    for part in ("train", "test"):
        (alone / f"zip.{part}.gz").write_bytes(content)
    with pytest.raises(DomainError, match=message):
        usps()


def test_without_file_and_network_the_error_says_what_to_do(alone):
    with pytest.raises(DomainError, match="MERCER_DATA"):
        usps()
    with pytest.raises(DomainError, match="network on"):
        usps(download=False)


def test_a_file_of_something_else_is_refused(tmp_path, arrays):
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(DomainError, match="holds no"):
        usps(tmp_path / "other.npz")
    np.savez(tmp_path / "narrow.npz", **{**arrays, "X_test": arrays["X_test"][:, :200]})
    with pytest.raises(DomainError, match="X_test"):
        usps(tmp_path / "narrow.npz")
    (tmp_path / "broken.npz").write_bytes(b"PK\x03\x04 but not really")
    with pytest.raises(DomainError, match="holds no"):
        usps(tmp_path / "broken.npz")
    with pytest.raises(DomainError, match="no file"):
        usps(tmp_path / "missing.npz")
