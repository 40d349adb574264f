"""``--cluster``: where a command works."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mercer.cluster import Cluster

__all__ = ["OnCluster", "cluster_at"]

OnCluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Where to choose kernels and parameters: the address of a Dask scheduler, or local:N "
        "for N processes on this computer; for example --cluster local:4.",
    ),
]


def cluster_at(address: str | None) -> AbstractContextManager[Cluster | None]:
    """Return the cluster at an address, to be entered; without one nothing."""
    if address is None:
        return nullcontext()
    from mercer.cluster import Cluster

    return Cluster(address)
