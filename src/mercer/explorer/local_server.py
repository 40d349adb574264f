"""The local server: an explorer at an address of this computer, until somebody ends it."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from mercer.errors import DomainError

__all__ = ["listen", "serve_explorer"]

HOST = "127.0.0.1"
FIRST_PORT = 8601
TRIED_PORTS = 50  # after the first one
NEEDS = "mercer explore needs {}: pip install 'mercer[explore]'"


def serve_explorer(
    page_of: Callable[[str], str],
    answer: Callable[[str, Any], dict[str, Any]],
    port: int = FIRST_PORT,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Show a page and answer its questions until a signal ends it.

    Parameters
    ----------
    page_of : callable
        Returns the page for the path under which its questions are answered.
    answer : callable
        ``answer(name, parts)`` returns plain values.
    port : int
        The first one to try; if somebody listens there, the next free one is taken.
    ready : callable, optional
        Is told the address when the page is there.
    """
    try:
        import uvicorn

        from mercer.explorer.web_service import explorer_service, new_token
    except ImportError as error:
        if str(error.name or "").startswith("mercer"):
            raise
        raise ImportError(NEEDS.format(error.name or "a library"), name=error.name) from error
    token = new_token()
    page = page_of(f"/{token}/")
    with listen(port) as listening:
        place = listening.getsockname()[1]
        if ready is not None:
            ready(f"http://{HOST}:{place}/{token}/")
        config = uvicorn.Config(
            explorer_service(page, answer, token), log_level="warning", access_log=False,
            server_header=False, timeout_graceful_shutdown=1,
        )  # fmt: skip
        uvicorn.Server(config).run(sockets=[listening])


def listen(port: int) -> socket.socket:
    """Return a socket that listens on this computer alone, at a port or the next free one.

    Examples
    --------
    >>> with listen(0) as first, listen(first.getsockname()[1]) as second:
    ...     second.getsockname()[1] > first.getsockname()[1]
    True
    """
    if not 0 <= port < 65536:
        raise DomainError(f"--port must be a number from 0 to 65535, found {port}")
    for one in range(port, min(port + TRIED_PORTS, 65536)):
        try:
            return socket.create_server((HOST, one), family=socket.AF_INET)
        except OSError:
            if port == 0:
                raise
    raise DomainError(
        f"no port from {port} to {port + TRIED_PORTS - 1} is free; take another --port"
    )
