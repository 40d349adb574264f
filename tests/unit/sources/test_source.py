"""Samples of rows that come by once."""

import numpy as np
import pytest

from mercer.errors import DomainError
from mercer.sources import read
from mercer.sources.delimited import Delimited
from mercer.sources.source import Piece, gather, objects


class Numbers:
    """Rows 0, 1, 2, … in pieces of some size."""

    def __init__(self, count, size):
        self.count, self.size, self.columns = count, size, ["x"]

    def pieces(self, size, wanted=None):
        for start in range(0, self.count, self.size):
            rows = np.arange(start, min(start + self.size, self.count))
            yield Piece({"x": rows.astype(np.float64)}, rows + 1, rows, len(rows))


def test_a_sample_is_in_order_and_without_repetition():
    piece = gather(Numbers(1000, 7), 50, 0)
    assert len(piece) == 50
    assert (np.diff(piece.rows) > 0).all()
    assert piece.total == 1000
    np.testing.assert_array_equal(piece.columns["x"], piece.rows)


def test_a_sample_depends_on_the_seed_and_not_on_the_pieces():
    samples = [
        gather(Numbers(500, size), 40, seed).rows.tolist()
        for size in (1, 13, 500)
        for seed in (0, 1)
    ]
    assert samples[0] == samples[2] == samples[4]
    assert samples[1] == samples[3] == samples[5] != samples[0]


def test_every_row_has_the_same_chance():
    count, limit, times = 60, 12, 2000
    hits = np.zeros(count)
    for seed in range(times):
        hits[gather(Numbers(count, 9), limit, seed).rows] += 1
    share = limit / count
    spread = np.sqrt(times * share * (1 - share))
    assert np.abs(hits - times * share).max() < 4.5 * spread
    assert hits.sum() == times * limit


def test_a_small_file_is_read_whole(write):
    path = write("x,y\n1,a\n2,b\n3,a\n")
    sheet = read(path, "y", limit=3)
    assert len(sheet) == 3
    assert sheet.notes == ()


def test_a_sample_is_said_and_counts_all_rows(write):
    rows = "".join(f"{i}.5,{'ab'[i % 2]}\n" for i in range(500))
    path = write("x,y\n" + rows + "1\n")
    with pytest.raises(DomainError, match="1 bad row of 501: line 502"):
        read(path, "y", limit=50)
    sheet = read(path, "y", limit=50, skip_bad=True, seed=3)
    assert len(sheet) == 50
    assert sheet.total == 501
    assert sheet.notes[0] == "of 501 rows, a random sample of 50 was read (seed 3)"
    assert sheet.bad[0].line == 502
    np.testing.assert_array_equal(sheet.X["x"], sheet.rows + 0.5)
    np.testing.assert_array_equal(sheet.lines, sheet.rows + 2)


def test_a_limit_is_positive(write):
    with pytest.raises(DomainError, match="limit must be a whole number from 1 on, found 0"):
        read(write("x\n1\n"), limit=0)


def test_numbers_keep_their_form_beside_gaps():
    class Typed(Numbers):
        def pieces(self, size, wanted=None):
            rows = np.arange(2)
            yield Piece({"x": np.array([1, 2])}, rows, rows, 2)
            yield Piece({"x": objects([3, None])}, rows, rows, 2)

    assert gather(Typed(4, 2), None, 0).columns["x"].tolist() == [1, 2, 3, None]


def test_memory_does_not_grow_with_the_file(tmp_path, monkeypatch):
    import tracemalloc

    monkeypatch.setattr("mercer.sources.source.CHUNK_ROWS", 500)

    def peak(count):
        path = tmp_path / f"{count}.csv"
        with path.open("w") as file:
            file.write("a,b,c\n")
            file.writelines(f"{i},{i * 0.37:.6f},{'xyz'[i % 3]}\n" for i in range(count))
        source = Delimited(path)
        tracemalloc.start()
        try:
            piece = gather(source, 500, 0)
            return len(piece), piece.total, tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    few, many = peak(3_000), peak(12_000)
    assert few[:2] == (500, 3_000)
    assert many[:2] == (500, 12_000)
    assert many[2] < 1.2 * few[2]
