"""A shim that makes one thing fail: an allocation of NumPy, or a file operation."""

import builtins
import ctypes
import errno
import io
import os
import shutil
from contextlib import contextmanager

import numpy as np

LARGE = 2**18  # a quarter of a megabyte: small problems have large arrays, too


class _Allocator(ctypes.Structure):
    _fields_ = [
        ("context", ctypes.c_void_p),
        ("malloc", ctypes.c_void_p),
        ("calloc", ctypes.c_void_p),
        ("realloc", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
    ]


class _Handler(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("allocator", _Allocator),
    ]


SIZE = ctypes.c_size_t
POINTER = ctypes.c_void_p
MALLOC = ctypes.CFUNCTYPE(POINTER, POINTER, SIZE)
CALLOC = ctypes.CFUNCTYPE(POINTER, POINTER, SIZE, SIZE)
REALLOC = ctypes.CFUNCTYPE(POINTER, POINTER, POINTER, SIZE)
# Places of PyDataMem_SetHandler and PyDataMem_GetHandler in NumPy's table of functions.
SET_HANDLER, GET_HANDLER = 304, 305


def _function(place, *kinds):
    api = ctypes.pythonapi
    api.PyCapsule_GetPointer.restype = POINTER
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    api.PyCapsule_New.restype = ctypes.py_object
    api.PyCapsule_New.argtypes = [POINTER, ctypes.c_char_p, POINTER]
    table = ctypes.cast(
        api.PyCapsule_GetPointer(np._core._multiarray_umath._ARRAY_API, None),
        ctypes.POINTER(POINTER),
    )
    return ctypes.PYFUNCTYPE(ctypes.py_object, *kinds)(table[place])


class Allocations:
    """NumPy's large allocations in this thread, of which one fails.

    Memory comes from NumPy's own allocator, and goes back by it: it is freed while an error is on
    its way, when no function of Python may run.
    """

    def __init__(self, fails=None):
        self.count, self.fails = 0, fails
        usual = ctypes.pythonapi.PyCapsule_GetPointer(_function(GET_HANDLER)(), b"mem_handler")
        own = _Handler.from_address(usual).allocator
        # These must not let go of the lock of the interpreter, which guards NumPy's own caches.
        get = ctypes.PYFUNCTYPE(POINTER, POINTER, SIZE)(own.malloc)
        clear = ctypes.PYFUNCTYPE(POINTER, POINTER, SIZE, SIZE)(own.calloc)
        grow = ctypes.PYFUNCTYPE(POINTER, POINTER, POINTER, SIZE)(own.realloc)
        self.functions = (
            MALLOC(lambda c, size: None if self._bad(size) else get(c, size)),
            CALLOC(lambda c, n, size: None if self._bad(n * size) else clear(c, n, size)),
            REALLOC(lambda c, old, size: None if self._bad(size) else grow(c, old, size)),
        )
        addresses = [ctypes.cast(function, POINTER).value for function in self.functions]
        allocator = _Allocator(own.context, *addresses, own.free)
        self.handler = _Handler(b"failing", 1, allocator)

    def _bad(self, size):
        if size < LARGE:
            return False
        self.count += 1
        return self.count - 1 == self.fails


_kept = []  # arrays may outlive the shim, and are freed by it


@contextmanager
def allocations(fails=None):
    """Count large allocations; let that of number `fails` fail."""
    shim = Allocations(fails)
    _kept.append(shim)
    swap = _function(SET_HANDLER, ctypes.py_object)
    capsule = ctypes.pythonapi.PyCapsule_New(ctypes.addressof(shim.handler), b"mem_handler", None)
    before = swap(capsule)
    try:
        yield shim
    finally:
        swap(before)


class _File:
    """A file whose writes, flushes and reads are operations that may fail."""

    def __init__(self, file, step):
        self._file, self._step = file, step

    def write(self, data):
        self._step("write")
        return self._file.write(data)

    def flush(self):
        self._step("flush")
        return self._file.flush()

    def __enter__(self):
        self._file.__enter__()
        return self

    def __exit__(self, *error):
        return self._file.__exit__(*error)

    def __iter__(self):
        return iter(self._file)

    def __getattr__(self, name):
        return getattr(self._file, name)


@contextmanager
def file_operations(folder, fails=None, number=errno.EIO):
    """Count what is done to files of a folder; let that of number `fails` fail."""
    folder = os.path.realpath(folder)
    names, counted = {}, [0]

    def about(path):
        try:
            return os.path.realpath(os.fsdecode(path)).startswith(folder)
        except TypeError:
            return path in names

    def step(what):
        counted[0] += 1
        if counted[0] - 1 == fails:
            raise OSError(number, f"{os.strerror(number)} (on purpose: {what})")

    real = {
        (os, "open"): os.open, (os, "replace"): os.replace, (os, "fsync"): os.fsync,
        (os, "listdir"): os.listdir, (os, "mkdir"): os.mkdir, (os, "stat"): os.stat,
        (shutil, "copymode"): shutil.copymode,
    }  # fmt: skip
    opened = builtins.open

    def shimmed(module, name, function):
        def call(*given, **options):
            if given and (name == "fsync" or about(given[0])):
                step(name)
            return function(*given, **options)

        setattr(module, name, call)

    def open_shim(path, mode="r", *given, **options):
        if not about(path):
            return opened(path, mode, *given, **options)
        step("open")
        file = opened(path, mode, *given, **options)
        return _File(file, step) if "w" in mode and "b" in mode else file

    for (module, name), function in real.items():
        shimmed(module, name, function)
    builtins.open = io.open = open_shim
    try:
        yield counted
    finally:
        builtins.open = io.open = opened
        for (module, name), function in real.items():
            setattr(module, name, function)
