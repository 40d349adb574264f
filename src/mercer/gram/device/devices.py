"""Devices: which one to compute on, how much memory it has, and what to do when it is full."""

from __future__ import annotations

import ctypes.util
import importlib.util
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import mercer.memory as memory
from mercer.errors import PlanError, PlanWarning
from mercer.memory import format_bytes

__all__ = [
    "Tensor",
    "allocate",
    "device_choice",
    "empty_cache",
    "free_bytes",
    "is_full",
    "is_lost",
    "or_on_the_cpu",
    "torch_device",
    "warn_lost",
]

T = TypeVar("T")
Tensor: TypeAlias = Any  # torch.Tensor; Torch is imported only where it computes


def device_choice(device: str = "auto") -> str:
    """Return "cuda" or "cpu": what a user's choice means on this computer.

    Raises `PlanError` if a GPU is asked for that cannot be used, saying what is missing.

    Examples
    --------
    >>> device_choice("cpu")
    'cpu'
    """
    if device not in ("auto", "cpu", "cuda"):
        raise PlanError(f'device must be "auto", "cpu" or "cuda", found {device!r}')
    if device == "cpu" or (device == "auto" and not _driver()):
        return "cpu"
    missing = _missing()
    if missing is None:
        return "cuda"
    if device == "auto":
        return "cpu"
    raise PlanError(f'device="cuda" cannot be used: {missing}; device="cpu" needs nothing')


def _driver() -> bool:
    """Tell whether there is a sign of a GPU; looking for one with Torch takes 200 MB."""
    if sys.platform.startswith("linux"):
        places = ("nvidiactl", "nvidia0", "dxg", "kfd")  # NVIDIA's, Windows' inside Linux, AMD's
        return any(Path("/dev", place).exists() for place in places)
    return sys.platform == "win32" and ctypes.util.find_library("nvcuda") is not None


def _missing() -> str | None:
    """Say why there is no GPU to compute on, or return None."""
    if importlib.util.find_spec("torch") is None:
        return "PyTorch is not installed (pip install 'mercer[gpu]')"
    import torch

    if torch.cuda.is_available():
        return None
    if torch.version.cuda is None and torch.version.hip is None:
        return "this PyTorch was built without CUDA (pip install 'mercer[gpu]' on Linux brings it)"
    return "PyTorch sees no GPU; look at the driver with nvidia-smi"


def torch_device(device: str) -> Any:
    """Return Torch's device; "cpu" is one too, if Torch is there."""
    if importlib.util.find_spec("torch") is None:
        raise PlanError("PyTorch is not installed (pip install 'mercer[gpu]')")
    import torch

    if device.startswith("cuda"):
        device_choice("cuda")
    return torch.device(device)


def free_bytes(device: Tensor) -> int:
    """Return how many bytes of a device may still be taken."""
    import torch

    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return int(free + unused)
    return memory.available() or 2 * 10**9


def allocate(shape: tuple[int, ...], dtype: Any, device: Tensor) -> Any:
    """Return an uninitialized tensor: all large ones are made here."""
    import torch

    return torch.empty(shape, dtype=dtype, device=device)


def is_full(error: BaseException) -> bool:
    """Tell whether an error says that a device's memory is full."""
    import torch

    kinds = [torch.cuda.OutOfMemoryError]
    if hasattr(torch, "OutOfMemoryError"):
        kinds.append(torch.OutOfMemoryError)
    return isinstance(error, tuple(kinds))


def is_lost(error: BaseException) -> bool:
    """Tell whether an error says that a device no longer answers: unplugged, reset, or crashed."""
    words = str(error)
    return isinstance(error, RuntimeError) and not is_full(error) and "CUDA error" in words


def empty_cache() -> None:
    """Give back what Torch holds of a device's memory without using it."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def warn_lost(task: str, device: Tensor, error: str) -> None:
    """Say that a device has gone, and that the CPU goes on."""
    warnings.warn(
        f"{device} stopped answering during {task} ({error}); it is computed on the CPU instead, "
        "which is slower and gives the same answer; the GPU can be used again in a new process",
        PlanWarning,
        stacklevel=4,
    )


def or_on_the_cpu(work: Callable[[], T], instead: Callable[[], T], task: str, device: Tensor) -> T:
    """Return what `work` returns, or `instead` with a warning if the device is full or gone."""
    lost = ""
    try:
        return work()
    except Exception as error:
        if is_lost(error):
            lost = str(error).splitlines()[0]
        elif not is_full(error):
            raise
    # Outside of the except clause, because the error holds the tensors of its frames.
    if lost:
        warn_lost(task, device, lost)
        return instead()
    empty_cache()
    free = format_bytes(free_bytes(device))
    warnings.warn(
        f"{task} does not fit into the memory of {device} ({free} are free); "
        "it is computed on the CPU instead, which is slower and gives the same answer",
        PlanWarning,
        stacklevel=3,
    )
    return instead()
