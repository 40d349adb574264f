"""The former home of Cholesky on a device, which is now `EngineCholesky(TorchEngine(device))`."""

from __future__ import annotations

import warnings

from mercer.gram.engines import TorchEngine
from mercer.solvers.ridge.engine_cholesky import EngineCholesky

__all__ = ["DeviceCholesky"]


def DeviceCholesky(device: str = "cuda") -> EngineCholesky:
    """Return the solver of that name, with a warning."""
    warnings.warn(
        "mercer.solvers.device_cholesky.DeviceCholesky(device) is now mercer.solvers.ridge."
        "engine_cholesky.EngineCholesky(mercer.gram.engines.TorchEngine(device)); the old name "
        "goes with the next version",
        DeprecationWarning,
        stacklevel=2,
    )
    return EngineCholesky(TorchEngine(device))
