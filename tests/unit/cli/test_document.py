"""The page about the command tells the truth: its commands print what stands below them.

Numbers are not compared: they change with every better study, and are tested elsewhere.
"""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mercer.cli import app

PAGE = Path(__file__).parents[3] / "docs" / "command.md"
TEXT = PAGE.read_text(encoding="utf-8")
DATA = re.search(r"^```python\n(.*?)^```\n", TEXT, re.MULTILINE | re.DOTALL)[1]
BLOCK = re.compile(r"^```sh\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
HOW = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def numberless(text):
    return re.sub(r"-*\d+(\.\d+)?(e[+-]?\d+)?|-{2,}", "0", text)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(DATA, PAGE.name, "exec"), {})
    return tmp_path


@pytest.mark.slow
def test_the_commands_print_what_the_page_says(here):
    blocks = BLOCK.findall(TEXT)
    assert len(blocks) >= 5
    for code, expected in blocks:
        for line in code.splitlines():
            name, *arguments = shlex.split(line)
            assert name == "mercer"
            answer = CliRunner().invoke(app, arguments)
            assert answer.exit_code == 0, (line, answer.output)
        if expected:
            said = doctest.OutputChecker().check_output
            same = said(numberless(expected), numberless(answer.stdout), HOW)
            assert same, f"{line} prints\n{answer.stdout}"
    assert (here / "predictions.csv").exists() and (here / "K.npy").exists()


def test_every_command_and_option_on_the_page_is_there():
    known = {"--install-completion", "--help"}
    for part in re.findall(r"\| \[`mercer (\w+)`\]", TEXT):
        helped = CliRunner().invoke(app, [part, "--help"])
        assert helped.exit_code == 0
        known |= set(re.findall(r"--[a-z-]+", helped.output))
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", TEXT)) <= known
