"""A file is whole, undamaged and of a known version, or it is refused."""

import contextlib
import hashlib
import json
import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

import mercer
from mercer import SVC
from mercer.errors import FileError
from mercer.files import container, describe
from mercer.files.container import EMPTY, START, opened, write
from mercer.kernels import Gaussian, Linear, Spectrum


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    path = tmp_path / "model.mercer"
    mercer.save(SVC(Gaussian(1.0)).fit(X, X[:, 0] > 0), path)
    return path


def put(path, document, tensors=None):
    """Write a document as `save` would, with its checksum."""
    with open(path, "wb") as file:
        write(file, document, tensors or {})


def test_other_tools_can_read_the_arrays(path):
    tensors = load_file(path)
    machine = mercer.load(path)
    assert tensors["function_.points.array"].tobytes() == machine.support_vectors_.tobytes()
    assert all(array.flags.aligned for array in tensors.values())


def test_the_document_is_json(path):
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = file.read(length)
    document = json.loads(json.loads(header)["__metadata__"]["mercer"])
    assert document["format"] == 1
    assert document["model"]["machine"][0] == "machines.SVC"


def test_a_file_that_was_cut_short_is_refused_at_every_length(path):
    whole = path.read_bytes()
    lengths = {*range(0, 200), *range(200, len(whole), 97), len(whole) - 1}
    for length in sorted(lengths):
        path.write_bytes(whole[:length])
        with pytest.raises(FileError):
            mercer.load(path)
    path.write_bytes(whole)
    mercer.load(path)


def test_a_file_with_more_behind_it_is_refused(path):
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(FileError):
        mercer.load(path)


@pytest.mark.slow
def test_a_flipped_bit_is_found_wherever_it_is(path):
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    places = [*range(120), *rng.integers(0, len(whole), 150)]
    for place in places:
        changed = bytearray(whole)
        changed[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(changed))
        with pytest.raises(FileError):
            mercer.load(path)


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"not a model", b"\x80\x04N.", b"PK\x03\x04" * 50]
)
def test_other_files_are_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(FileError, match=r"not a model file|cut short"):
        mercer.load(path)


def test_a_safetensors_file_of_others_is_refused(path):
    save_file({"x": np.zeros(3)}, path, metadata={"mercer": "{}"})
    with pytest.raises(FileError, match="not a model file"):
        mercer.load(path)


def test_paths_are_texts_or_bytes(tmp_path):
    path = os.fsencode(tmp_path / "m\udcff")
    mercer.save(Linear(), path)
    assert mercer.load(path) == mercer.load(os.fsdecode(path)) == Linear()


def test_what_a_file_holds_is_named_only_by_a_name(path):
    put(path, {"model": {"tuple": [[1, 2], 3]}})
    assert describe(path)["kind"] is None


def test_a_missing_file_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        mercer.load(tmp_path / "nothing")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format":1}', '{"format":"1","model":1}',
                                  '{"format":1,"model":NaN}', '{"format":true,"model":1}',
                                  "[" * 100_000])  # fmt: skip
def test_a_broken_document_is_refused(path, text):
    header = json.dumps({"__metadata__": {"sha256": "0" * 64, "mercer": text}},
                        separators=(",", ":")).encode()  # fmt: skip
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(FileError, match="damaged"):
        mercer.load(path)


@pytest.mark.parametrize("text", ['{"format":1,"format":1,"model":1}',
                                  '{"format":1,"model":{"tuple":[1],"tuple":[2]}}'])  # fmt: skip
def test_a_name_that_occurs_twice_is_refused(path, text):
    """Two readers could take it for two different things."""
    put(path, {"model": 1})
    document = json.dumps({"format": 1, "mercer": mercer.__version__, "model": 1})
    whole = path.read_bytes()
    old = json.dumps(document.replace(" ", ""))[1:-1].encode()
    assert old in whole
    header = whole[8:].rstrip().replace(old, json.dumps(text)[1:-1].encode())
    path.write_bytes(summed(header))
    with pytest.raises(FileError, match="twice"):
        mercer.load(path)


def summed(header, data=b""):
    """Return a file with this header and the checksum that belongs to it."""
    rest = header[len(START) + len(EMPTY) :]
    checksum = hashlib.sha256(START + EMPTY + rest + data).hexdigest().encode()
    return len(header).to_bytes(8, "little") + START + checksum + rest + data


@pytest.mark.slow
@settings(max_examples=300)
@given(data=st.data())
def test_a_header_with_changes_and_a_right_checksum_is_read_or_refused(whole, data):
    path, content = whole
    length = int.from_bytes(content[:8], "little")
    header = bytearray(content[8 : 8 + length])
    places = st.integers(len(START) + len(EMPTY), length - 1)
    letters = st.sampled_from(b'0123456789-+eE.[]{},:"\\ nultrefasNI\x00\xff')
    for place, letter in data.draw(st.lists(st.tuples(places, letters), min_size=1, max_size=4)):
        header[place] = letter
    path.write_bytes(summed(bytes(header), content[8 + length :]))
    for function in (mercer.load, describe):
        with contextlib.suppress(FileError):
            function(path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "model"
    table = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "s": ["x", "yy", "xz", "z"]})
    kernel = Gaussian(1.0).on("a") + Spectrum(1).on("s")
    mercer.save(SVC(kernel, random_state=3).fit(table, [0, 1, 0, 1]), path, notes={"a": [1, 2.5]})
    return path, path.read_bytes()


def test_a_header_that_claims_to_be_huge_is_refused(path):
    path.write_bytes((10**15).to_bytes(8, "little") + START + b"0" * 100)
    with pytest.raises(FileError, match="does not fit"):
        mercer.load(path)


def test_a_header_of_negative_rest_is_refused(path):
    path.write_bytes((3).to_bytes(8, "little") + START + b"0" * 100)
    with pytest.raises(FileError, match="does not fit"):
        mercer.load(path)


def test_a_checksum_is_no_signature_but_finds_every_change(path):
    changed = path.read_bytes().replace(b"machines.SVC", b"machines.SVR")
    path.write_bytes(changed)
    with pytest.raises(FileError, match="checksum is wrong"):
        mercer.load(path)


def test_a_newer_format_asks_for_a_newer_mercer(path):
    put(path, {"format": 7, "mercer": "9.1", "model": {"unheard": "of"}})
    with pytest.raises(FileError, match=r"newer mercer \(9\.1, format 7\).*formats up to 1"):
        mercer.load(path)


def test_a_format_that_nobody_reads_any_more_is_refused(path):
    put(path, {"format": -1, "model": 1})
    with pytest.raises(FileError, match="no longer reads"):
        mercer.load(path)


def test_an_older_format_is_read_by_way_of_an_upgrade(path, monkeypatch):
    """Format 0, which there never was, might have had `class` and `settings` in the open."""
    put(path, {"format": 0, "class": "Gaussian", "settings": {"width": 2.5}})

    def upgrade(document):
        parameters = {"bandwidth": document["settings"]["width"]}
        return {"model": {"value": [f"kernels.{document['class']}", parameters]}}

    monkeypatch.setitem(container.UPGRADES, 0, upgrade)
    assert mercer.load(path) == Gaussian(2.5)


def test_upgrades_follow_each_other(path, monkeypatch):
    monkeypatch.setattr(container, "VERSION", 3)
    steps = {
        1: lambda d: {"model": {"value": ["kernels.Lin", d["model"]]}},
        2: lambda d: {"model": {"value": ["kernels.Linear", d["model"]["value"][1]]}},
    }
    monkeypatch.setattr(container, "UPGRADES", steps)
    put(path, {"format": 1, "model": {}})
    assert mercer.load(path) == Linear()
    del steps[2]
    with pytest.raises(FileError, match="no longer reads"):
        mercer.load(path)


def test_all_tensors_are_written_and_named(path):
    tensors = {"b": np.arange(3, dtype=np.int8), "a": np.arange(2.0), "empty": np.empty((0, 4)),
               "scalar": np.array(2.5), "truth": np.array([True, False])}  # fmt: skip
    put(path, {"model": None}, tensors)
    with opened(path) as (document, found):
        assert document["model"] is None
        assert set(found.keys()) == set(tensors)
        for name, array in tensors.items():
            again = found.get_tensor(name)
            assert again.dtype == array.dtype and again.shape == array.shape
            assert again.tobytes() == array.tobytes()
