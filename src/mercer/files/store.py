"""Save and load: what users call."""

from __future__ import annotations

import os
from typing import Any

from mercer.errors import FileError
from mercer.files import model_codecs, pandas_codecs, value_codecs
from mercer.files.atomic import replacing
from mercer.files.codecs import Decoder, Encoder
from mercer.files.container import opened, write

__all__ = ["describe", "load", "save"]

CODECS = (*value_codecs.CODECS, *pandas_codecs.CODECS, *model_codecs.CODECS)


def save(machine: object, path: str | os.PathLike[str], notes: object = None) -> None:
    """Write a machine, fitted or not, an RKHS function or a kernel into one file.

    The file is a safetensors file: arrays as they are, everything else as JSON in its header. It
    holds no code, so a kernel made of a Python function is refused, unless the function has a
    name (see `mercer.files.register`). It holds what predictions need: of a support vector
    machine the support vectors, of a table the columns that the kernel looks at; not the histories
    of solvers, nor what can be computed again. Equal machines make equal files. An interrupted or
    failed write leaves no file, or the one that was there.

    Parameters
    ----------
    machine : machine, Function or Kernel
        Or a scikit-learn pipeline of a scaler and a machine.
    path : str or path
    notes : optional
        Anything of plain values that is to be kept beside, such as the names of columns;
        `describe` returns it.

    Examples
    --------
    >>> import tempfile
    >>> from mercer import KernelRidge
    >>> machine = KernelRidge("linear", 0.1).fit([[1.0], [2.0]], [1.0, 2.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.mercer")
    ...     save(machine, path)
    ...     again = load(path)
    >>> bool(again.predict([[3.0]]) == machine.predict([[3.0]]))
    True
    """
    encoder = Encoder(CODECS)
    try:
        document = {"model": encoder.encode(machine, ""), "notes": encoder.encode(notes, "notes")}
    except RecursionError as error:
        raise FileError("the machine holds things within things without end") from error
    with replacing(path) as file:
        write(file, document, encoder.tensors)


def load(path: str | os.PathLike[str]) -> Any:
    """Read what `save` has written; the same predictions, bit for bit.

    Loading runs no code that the file could choose: classes are looked up among mercer's own,
    functions among those that this program has registered, and everything else is plain data.
    A file that was damaged, cut short or made by a newer mercer is refused with a `FileError`. The
    checksum finds accidents; it is no signature, and says nothing about who made a file.

    Parameters
    ----------
    path : path

    Returns
    -------
    machine, kernel or whatever was saved

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.mercer")
    ...     with open(path, "wb") as file:
    ...         _ = file.write(b"something else")
    ...     load(path)
    Traceback (most recent call last):
        ...
    mercer.errors.FileError: '...model.mercer' is not a model file of mercer's
    """
    with opened(path) as (document, tensors):
        return Decoder(CODECS, tensors).decode(document["model"])


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what is in a file, without making it: versions, the kind of thing, and the notes.

    Parameters
    ----------
    path : path

    Returns
    -------
    dict
        With the keys "format", "mercer", "kind" and "notes".

    Examples
    --------
    >>> import tempfile
    >>> from mercer.kernels import Gaussian
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "kernel.mercer")
    ...     save(Gaussian(2.0), path, notes={"columns": ["height"]})
    ...     describe(path)
    {'format': 1, 'mercer': '...', 'kind': 'kernels.Gaussian', 'notes': {'columns': ['height']}}
    """
    with opened(path) as (document, tensors):
        node = document["model"]
        inside = next(iter(node.values())) if isinstance(node, dict) and len(node) == 1 else None
        first = inside[0] if isinstance(inside, list) and inside else None
        kind = first if isinstance(first, str) else None
        notes = Decoder(CODECS, tensors).decode(document.get("notes"))
        maker = document.get("mercer")
        return {"format": document["format"], "mercer": maker, "kind": kind, "notes": notes}
