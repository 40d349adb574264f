"""A write ends with a whole file, or with what was there before."""

import os
import signal
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest

import mercer
from mercer.errors import FileError
from mercer.files import atomic, replacing, store
from mercer.kernels import Gaussian, Linear, from_function


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("old", [None, b"old"])
def test_a_failed_write_leaves_what_was_there(tmp_path, error, old):
    path = tmp_path / "file"
    if old is not None:
        path.write_bytes(old)
    with pytest.raises(type(error)), replacing(path) as file:
        file.write(b"half of")
        raise error
    assert [p.name for p in tmp_path.iterdir()] == ([] if old is None else ["file"])
    assert old is None or path.read_bytes() == old


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # unclosed files
def test_an_interruption_at_any_moment_leaves_no_part(tmp_path):
    """Ctrl-C raises between any two instructions, before and after each file operation too."""
    path = tmp_path / "file"

    def interrupted(at):
        seen = 0

        def trace(frame, event, argument):
            nonlocal seen
            if frame.f_code.co_filename != atomic.__file__:
                return None
            frame.f_trace_opcodes = True
            seen += event == "opcode"
            if event == "opcode" and seen == at:
                raise KeyboardInterrupt
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            with replacing(path) as file:
                file.write(b"new")
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        return seen >= at

    moments = 1
    path.write_bytes(b"old")
    while interrupted(moments):
        assert path.read_bytes() in (b"old", b"new")
        assert os.listdir(tmp_path) == ["file"], moments
        path.write_bytes(b"old")
        moments += 1
    assert moments > 100 and path.read_bytes() == b"new"


def test_a_failed_save_leaves_the_old_model(tmp_path, monkeypatch):
    path = tmp_path / "model"
    mercer.save(Gaussian(1.0), path)

    def full(file, document, tensors):
        file.write(b"some bytes")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(store, "write", full)
        with pytest.raises(OSError, match="No space"):
            mercer.save(Gaussian(2.0), path)
    with pytest.raises(FileError):
        mercer.save(from_function(lambda a, b: 1.0), path)
    assert mercer.load(path) == Gaussian(1.0)
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


# Other processes take this one file alone, because the whole library takes seconds to import.
ALONE = f"""
import runpy
replacing = runpy.run_path({atomic.__file__!r})["replacing"]
"""


def test_a_real_full_disk_leaves_the_old_model(tmp_path):
    """A limit on the size of files is the nearest to a full disk that a test can make."""
    path = tmp_path / "model"
    mercer.save(Linear(), path)
    code = f"""{ALONE}
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    with replacing({str(path)!r}) as file:
        file.write(bytes(1_000_000))
except OSError as error:
    print("refused", error.errno)
"""
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.startswith("refused")
    assert mercer.load(path) == Linear()
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


@pytest.mark.slow
def test_a_killed_write_leaves_the_old_model(tmp_path):
    path = tmp_path / "model"
    mercer.save(Linear(), path)
    code = f"""{ALONE}
import time
with replacing({str(path)!r}) as file:
    file.write(b"half of")
    file.flush()
    print("writing", flush=True)
    time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as encoder:
        assert encoder.stdout.readline().strip() == b"writing"
        encoder.send_signal(signal.SIGKILL)
    assert mercer.load(path) == Linear()


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_permissions_are_those_of_a_plain_file_or_of_the_old_one(tmp_path):
    mercer.save(Linear(), tmp_path / "model")
    (tmp_path / "plain").write_bytes(b"")
    assert mode(tmp_path / "model") == mode(tmp_path / "plain")
    (tmp_path / "model").chmod(0o600)
    mercer.save(Linear(), tmp_path / "model")
    assert mode(tmp_path / "model") == 0o600


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "model")
    mercer.save(Linear(), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert mercer.load(tmp_path / "folder" / "model") == Linear()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
def test_what_is_no_file_is_written_to_and_not_replaced(tmp_path):
    """Whoever may write into /dev would otherwise have a file in the place of /dev/null."""
    os.mkfifo(tmp_path / "pipe")
    found = []
    read = lambda: found.append((tmp_path / "pipe").read_bytes())
    decoder = threading.Thread(target=read, daemon=True)
    decoder.start()
    with replacing(tmp_path / "pipe") as file:
        file.write(b"1 2 3")
    decoder.join(10)
    assert found == [b"1 2 3"]
    assert (tmp_path / "pipe").is_fifo() and os.listdir(tmp_path) == ["pipe"]


def test_long_names_can_be_written(tmp_path):
    path = tmp_path / ("m" * 250)
    mercer.save(Linear(), path)
    assert mercer.load(path) == Linear()


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(IsADirectoryError):
        mercer.save(Linear(), tmp_path)
    with pytest.raises(FileNotFoundError):
        mercer.save(Linear(), tmp_path / "no" / "folder")


def test_strings_and_paths_name_files(tmp_path):
    mercer.save(Linear(), str(tmp_path / "model"))
    assert mercer.load(tmp_path / "model") == mercer.load(str(tmp_path / "model")) == Linear()
    assert np.isfinite(os.stat(tmp_path / "model").st_size)
