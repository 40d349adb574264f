"""The server: a service at an address of this computer, until somebody ends it."""

from __future__ import annotations

import gc
import ipaddress
import socket
import sys
from collections.abc import Callable

from mercer.errors import DomainError
from mercer.serving.limits import Limits
from mercer.studies import SavedModel

__all__ = ["is_local", "run"]

MAX_CONNECTIONS = 2000  # that are open at a time
IDLE_SECONDS = 10  # until a connection that asks nothing is closed
MAX_HEADER = 16_384  # bytes of all headers of a request, where the server is written in Python
# Seconds for which one thread may keep others from running Python. By default 5 ms, for which each
# request would wait while a batch is computed: half as many are answered then.
SWITCH_SECONDS = 5e-4
NEEDS = "mercer serve needs {}: pip install 'mercer[serve]'"


def is_local(host: str) -> bool:
    """Tell whether only this computer reaches an address.

    Examples
    --------
    >>> is_local("127.0.0.1"), is_local("localhost"), is_local("0.0.0.0")
    (True, True, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def run(
    known: SavedModel,
    host: str = "127.0.0.1",
    port: int = 8000,
    limits: Limits | None = None,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Answer requests until a signal ends it.

    Parameters
    ----------
    known : SavedModel
    host, port
        Where; port 0 takes one that is free.
    limits : Limits, optional
    ready : callable, optional
        Is told the address when requests are heard.
    """
    try:
        import uvicorn

        from mercer.serving.service import LOCAL, service
    except ImportError as error:
        if str(error.name or "").startswith("mercer"):
            raise
        raise ImportError(NEEDS.format(error.name or "a library"), name=error.name) from error
    limits = limits or Limits()
    app = service(known, limits, LOCAL if is_local(host) else ("*",))
    listening = _listen(host, port)
    with listening:
        place = listening.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        if ready is not None:
            ready(f"http://{shown}:{place}")
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, server_header=False,
            limit_concurrency=MAX_CONNECTIONS, timeout_keep_alive=IDLE_SECONDS,
            h11_max_incomplete_event_size=MAX_HEADER, timeout_graceful_shutdown=5,
        )  # fmt: skip
        usual = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)
        # What is there now stays until the end. The collector would walk through all of it again
        # and again, a tenth of a second each time, while everybody waits.
        gc.collect()
        gc.freeze()
        try:
            uvicorn.Server(config).run(sockets=[listening])
        finally:
            gc.unfreeze()
            sys.setswitchinterval(usual)


def _listen(host: str, port: int) -> socket.socket:
    if not 0 <= port < 65536:
        raise DomainError(f"--port must be a number from 0 to 65535, found {port}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=MAX_CONNECTIONS)
    except OSError as error:
        why = error.strerror or str(error)
        raise DomainError(
            f"nobody can listen at {host}, port {port}: {why.lower()}; take another --port or "
            "--host"
        ) from error
