"""What is typed on the command line, and how it is understood."""

from pathlib import Path

import pytest

from mercer import errors
from mercer.cli.options import seconds, stem_of, types_of
from mercer.cli.terminal import paragraph, plain, require_writable, table


@pytest.mark.parametrize(
    ("text", "value"),
    [("90", 90), ("60s", 60), ("2m", 120), ("1h", 3600), ("0.5m", 30), (" 7 s ", 7), (".5", 0.5)],
)
def test_times(text, value):
    assert seconds(text) == value


@pytest.mark.parametrize("text", ["", "0", "0s", "soon", "1d", "-3", "1m30s", "inf", "nan"])
def test_what_is_no_time_is_refused(text):
    with pytest.raises(errors.DomainError, match="--budget must be a time such as 60s, 2m or 1h"):
        seconds(text)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (None, None),
        (["a=text"], {"a": "text"}),
        (["a=text,b=numeric", "c=ignore"], {"a": "text", "b": "numeric", "c": "ignore"}),
        ([" größe = numeric "], {"größe": "numeric"}),
        (["size, in m=numeric"], {"size, in m": "numeric"}),
        (["a=b=text,c=date"], {"a=b": "text", "c": "date"}),
        (["a=txt"], {"a": "txt"}),  # refused by whoever knows the columns
    ],
)
def test_types(given, found):
    assert types_of(given) == found


@pytest.mark.parametrize("text", ["", "a", "a=", "=text", "a,b"])
def test_what_says_no_type_is_refused(text):
    with pytest.raises(errors.DomainError, match="--types zip=categorical"):
        types_of([text])


@pytest.mark.parametrize(
    ("path", "stem"),
    [("iris.csv", "iris"), ("x/a.b.tsv.gz", "a.b"), ("MUTAG", "MUTAG"), ("a/.csv", ".csv")],
)
def test_the_folder_is_called_after_the_file(path, stem):
    assert stem_of(Path(path)) == stem


def test_a_folder_keeps_its_whole_name(tmp_path):
    (tmp_path / "PTC.v2").mkdir()
    assert stem_of(tmp_path / "PTC.v2") == "PTC.v2"


def test_what_a_terminal_would_obey_is_not_printed():
    assert plain("\x1b[2Jred\r\n\tend\u202e") == "·[2Jred end·"
    assert "\x1b" not in table(("a",), [("\x1b[31m",)])


@pytest.mark.parametrize(("terminal", "width"), [("40", 79), ("80", 79), ("200", 110)])
def test_a_long_reason_is_broken_into_lines_and_not_cut(terminal, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", terminal)
    why = "numbers in all 1,797 rows, only 9 different whole ones (they could be categories)"
    text = table(("column", "because"), [("a" * 30, why), ("b", "short")], (0, 1), wrap=True)
    assert width - 15 < max(map(len, text.splitlines())) <= width
    assert " ".join(line[33:].strip() for line in text.splitlines()[2:-1]).strip() == why
    assert text.splitlines()[-1].split() == ["b", "short"]


def test_the_lines_of_a_point_stand_below_each_other(capsys):
    paragraph("word " * 30, mark="- ")
    first, *others = capsys.readouterr().out.splitlines()
    assert first.startswith("  - word") and all(line.startswith("    word") for line in others)


def test_places_that_cannot_be_written_are_refused_before_the_work(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    assert require_writable(tmp_path / "a" / "b", folder=True) == tmp_path / "a" / "b"
    assert require_writable(tmp_path / "new.csv") == tmp_path / "new.csv"
    with pytest.raises(NotADirectoryError):
        require_writable(tmp_path / "file", folder=True)
    with pytest.raises(NotADirectoryError):
        require_writable(tmp_path / "file" / "inside", folder=True)
    with pytest.raises(IsADirectoryError):
        require_writable(tmp_path / "folder")
    with pytest.raises(errors.DomainError, match=r"there is no folder '.*none'"):
        require_writable(tmp_path / "none" / "new.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]
