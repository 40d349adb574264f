"""``mercer figures`` on the command line."""

import subprocess
import sys
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from mercer.cli import app

RUN = CliRunner()


def test_the_list_names_every_figure_with_one_line():
    from mercer.plots.figures import FIGURES

    answer = RUN.invoke(app, ["figures", "--list"])
    lines = answer.stdout.splitlines()
    assert answer.exit_code == 0
    assert [line.split()[0] for line in lines] == list(FIGURES)
    assert all(FIGURES[line.split()[0]].caption in line for line in lines)


def test_listing_draws_nothing_and_loads_no_matplotlib():
    code = (
        "import sys; from typer.testing import CliRunner; from mercer.cli import app\n"
        "assert not {'scipy', 'sklearn', 'matplotlib'} & set(sys.modules)\n"
        "assert CliRunner().invoke(app, ['figures', '--list']).exit_code == 0\n"
        "assert 'matplotlib' not in sys.modules"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_named_figures_are_written_to_a_new_folder(kind, tmp_path):
    out = tmp_path / "a" / "b"
    arguments = ["figures", "tutorial-3", "tutorial-3", "--out", str(out), "--format", kind]
    answer = RUN.invoke(app, arguments)
    assert answer.exit_code == 0, answer.output
    assert answer.stdout.split() == [str(out / f"tutorial-3.{kind}")]
    assert [path.name for path in out.iterdir()] == [f"tutorial-3.{kind}"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["tutorial7"], ["no figure 'tutorial7'", "did you mean 'tutorial-7'?"]),
        (["tutorial-3", "nonsense"], ["no figure 'nonsense'", "'book-6-1'"]),
        (["tutorial-3", "--format", "gif"], ["gif", "png"]),
        (["--color"], ["--color"]),
    ],
)
def test_bad_arguments_are_refused_without_a_traceback(arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = RUN.invoke(app, ["figures", *arguments])
    assert answer.exit_code == 2
    assert all(word in answer.output for word in words)
    assert "Traceback" not in answer.output
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "taken").write_text("")
    answer = RUN.invoke(app, ["figures", "tutorial-3", "--out", str(tmp_path / "taken")])
    assert answer.exit_code == 2
    assert "--out" in answer.output and "Traceback" not in answer.output


def test_the_command_can_be_run_as_a_module():
    import mercer

    run = subprocess.run(
        [sys.executable, "-m", "mercer.cli", "--version"], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == f"mercer {mercer.__version__}"


@pytest.mark.parametrize("named", [False, True])
def test_a_figure_whose_package_is_missing_is_left_out_unless_it_is_named(
    named, tmp_path, monkeypatch
):
    from mercer.plots.figures import FIGURES

    def paint(figure):
        raise ImportError("pip install 'mercer[extra]'")

    lacking = replace(FIGURES["tutorial-3"], name="lacking", paint=paint, needs="no_such_package")
    few = {"tutorial-3": FIGURES["tutorial-3"], "lacking": lacking}
    monkeypatch.setattr("mercer.plots.figures.FIGURES", few)
    monkeypatch.setattr("mercer.plots.figures.registry.FIGURES", few)
    answer = RUN.invoke(app, ["figures", *["lacking"][:named], "--out", str(tmp_path)])
    assert "Traceback" not in answer.output
    if named:
        assert answer.exit_code == 2 and "mercer[extra]" in answer.output
    else:
        assert answer.exit_code == 0 and "lacking is left out" in answer.output
        assert [path.name for path in tmp_path.iterdir()] == ["tutorial-3.png"]
