"""Connections: the client of a scheduler, from an address, or of one that is started here."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from mercer.errors import ClusterError, PlanError

__all__ = ["connect", "load_distributed", "require_alike", "started"]

# Evaluated on each worker as it is, so that it says what is missing there. Nothing of mercer is
# needed to say that mercer is not there.
PROBE = (
    "('.'.join(map(str, __import__('sys').version_info[:2])), "
    "__import__('numpy').__version__, __import__('mercer').__version__)"
)
NAMES = ("Python", "NumPy", "mercer")


def load_distributed() -> Any:
    """Return Dask's library for clusters, or say how to install it."""
    try:
        import dask
        import distributed
    except ImportError as error:
        raise PlanError(
            "a cluster needs Dask, which is not installed: pip install 'mercer[cluster]'"
        ) from error
    del dask
    return distributed


def connect(address: str, seconds: float) -> Any:
    """Return a client of the scheduler at an address, such as "tcp://10.0.0.1:8786".

    With "local:4" a scheduler and four worker processes are started on this computer, which the
    client ends with itself; they listen to this computer only.
    """
    distributed = load_distributed()
    kind, _, count = address.partition(":")
    if kind == "local":
        if not (count.isdigit() and int(count) > 0):
            raise ClusterError(
                f"expected local:N with a number of worker processes, found {address!r}"
            )
        return _local(distributed, int(count), seconds)
    try:
        return distributed.Client(address, timeout=seconds, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(
            f"no scheduler answers at {address!r} within {seconds:.0f} seconds: {error}"
        ) from error


def _local(distributed: Any, count: int, seconds: float) -> Any:
    cluster = distributed.LocalCluster(
        n_workers=count, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0",
        host="127.0.0.1", silence_logs=50,
    )  # fmt: skip
    client = distributed.Client(cluster, timeout=seconds, set_as_default=False)
    client.mercer_started = cluster
    return client


def started(client: Any) -> None:
    """End a client, and the workers that were started with it."""
    own = getattr(client, "mercer_started", None)
    client.close(timeout=10)
    if own is not None:
        own.close(timeout=10)


def require_alike(client: Any, seconds: float, workers: list[str] | None = None) -> list[str]:
    """Refuse workers without mercer, or with other versions of what the answer depends on.

    Some workers, or all of them; those that have answered are returned.
    """
    import sys

    own = sys.modules["mercer"].__version__  # the package itself is a room after this one
    mine = ".".join(map(str, sys.version_info[:2])), np.__version__, own
    probe = partial(eval, PROBE)
    try:
        found = client.sync(
            client._run, probe, workers=workers, on_error="return", callback_timeout=seconds
        )
    except (OSError, TimeoutError) as error:
        raise ClusterError(
            f"the workers do not answer within {seconds:.0f} seconds: {error}"
        ) from error
    for worker, theirs in sorted(found.items()):
        if isinstance(theirs, ImportError):
            raise ClusterError(
                f"worker {worker} cannot import {theirs.name}: {theirs}; install the same version "
                "of mercer on every worker"
            )
        if isinstance(theirs, OSError):
            continue  # it has gone meanwhile
        if isinstance(theirs, BaseException):
            raise ClusterError(f"worker {worker} does not work: {theirs!r}") from theirs
        for name, here, there in zip(NAMES, mine, theirs, strict=True):
            if here != there:
                raise ClusterError(
                    f"worker {worker} has {name} {there}, and this computer {here}; install the "
                    "same version on both"
                )
    return sorted(found)
