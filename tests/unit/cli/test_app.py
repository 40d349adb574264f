"""The front of the command: help, version, completion, and how fast it starts."""

import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from mercer.cli import app

RUN = CliRunner()
PARTS = (
    "fit",
    "predict",
    "explain",
    "serve",
    "export",
    "drift",
    "info",
    "check",
    "gram",
    "bench",
    "figures",
)


def help_of(*command):
    answer = RUN.invoke(app, [*command, "--help"], env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"})
    assert answer.exit_code == 0, answer.output
    return answer.output


def test_the_help_fits_one_screen_and_names_every_part():
    lines = help_of().splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 80
    for part in PARTS:
        assert any(line.startswith(f"  {part} ") and "..." not in line for line in lines)


def test_completion_is_there_without_cluttering_the_help():
    text = help_of()
    assert "--install-completion" in text and "--show-completion" not in text
    assert text.count("--install-completion") == 1


@pytest.mark.parametrize("part", PARTS)
def test_every_option_has_an_example_and_every_part_a_whole_line(part):
    text = help_of(part)
    assert re.search(rf"Example:\n\s+mercer {part} ", text)
    for entry in re.split(r"\n  (?=\S)", text.split("Options:")[1])[1:]:
        words = " ".join(entry.split())
        if not words.startswith(("-h", "Example")):
            assert "for example" in words.lower(), words


@pytest.mark.parametrize("part", PARTS)
def test_an_unknown_option_is_refused_with_status_2(part):
    answer = RUN.invoke(app, [part, "--nonsense"])
    assert answer.exit_code == 2
    assert "--nonsense" in answer.output and "Traceback" not in answer.output


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from typer.testing import CliRunner; from mercer.cli import app\n"
        "assert CliRunner().invoke(app, ['fit', '--help']).exit_code == 0\n"
        "print(*({'numpy', 'pandas', 'scipy', 'sklearn', 'rich'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == []


@pytest.mark.parametrize(
    ("typed", "completed"),
    [("mercer ", set(PARTS)), ("mercer bench s", {"svm", "selection"}),
     ("mercer fit x.csv --machine pro", {"prototype"})],
)  # fmt: skip
def test_the_shell_completes(typed, completed):
    variables = {
        "_MERCER_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split(" ")) - 1),
    }
    answer = RUN.invoke(app, prog_name="mercer", env=variables)
    assert completed <= set(answer.output.split())


def test_bench_names_its_benchmarks_and_refuses_others():
    answer = RUN.invoke(app, ["bench", "--list"])
    assert [line.split()[0] for line in answer.output.splitlines()] == [
        "gram",
        "ridge",
        "svm",
        "selection",
    ]
    answer = RUN.invoke(app, ["bench", "rigde"])
    assert answer.exit_code == 2 and "did you mean 'ridge'?" in answer.output


def test_bench_prints_what_was_measured_on_what(monkeypatch):
    monkeypatch.setattr("mercer.bench.tasks.Benchmark.run", lambda task: f"<{task.name}>")
    text = RUN.invoke(app, ["bench", "ridge", "gram", "ridge"]).output
    assert "BLAS:" in text and text.index("<ridge>") < text.index("<gram>")
    assert text.count("<ridge>") == 1
