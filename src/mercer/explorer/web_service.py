"""The web service of an explorer: a page and its questions, for this computer and nobody else.

Addresses begin with a random token, so that other users and pages cannot guess them. Questions
come from the page itself: a request by another name of this computer, or from a page of another
origin, is refused before it is looked at.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from mercer.errors import MercerError
from mercer.explorer.html_page import policy_of

__all__ = ["explorer_service", "new_token"]

LOCAL_NAMES = ["localhost", "127.0.0.1"]
MAX_BODY = 1_000_000  # bytes of a question
SECONDS = 60.0  # until a question is given up
SECURITY = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
}
Answerer = Callable[[str, Any], dict[str, Any]]


def new_token() -> str:
    """Return what nobody can guess: 128 random bits."""
    return secrets.token_urlsafe(16)


def explorer_service(page: str, answer: Answerer, token: str) -> Starlette:
    """Return the ASGI application of an explorer.

    Parameters
    ----------
    page : str
        The HTML of the page.
    answer : callable
        ``answer(name, parts)`` returns plain values, or raises `MercerError`.
    token : str
    """
    # One question after the other: what is computed once is kept, and not computed twice at once.
    thread = ThreadPoolExecutor(1, thread_name_prefix="mercer-explorer")

    async def front(request: Request) -> Response:
        return HTMLResponse(page, headers=SECURITY | {
            "content-security-policy": policy_of(False) + "; frame-ancestors 'none'",
        })  # fmt: skip

    async def ask(request: Request) -> Response:
        problem = _foreign(request)
        if problem:
            return _json({"error": problem}, 403)
        try:
            parts = await _parts(request)
        except (ValueError, RecursionError, ClientDisconnect) as error:
            return _json({"error": f"the question cannot be read: {error}"}, 400)
        name = request.path_params["name"]
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(SECONDS):
                found = await loop.run_in_executor(thread, answer, name, parts)
        except MercerError as error:
            # An answer like others: browsers would log another status as a fault of the page.
            return _json({"refused": str(error)})
        except TimeoutError:
            return _json({"error": f"there was no answer within {SECONDS:g} s"}, 503)
        except MemoryError:
            return _json({"error": "there is not enough memory for that"}, 503)
        return _json(found)

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        yield
        thread.shutdown(wait=False, cancel_futures=True)

    return Starlette(
        routes=[
            Route(f"/{token}/", front, methods=["GET"]),
            Route(f"/{token}/ask/{{name}}", ask, methods=["POST"]),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=LOCAL_NAMES)],
        exception_handlers={HTTPException: _elsewhere, Exception: _mistake},
        lifespan=life,
    )


def _foreign(request: Request) -> str:
    """Say why a request is not that of our own page; nothing if it is."""
    origin = request.headers.get("origin")
    own = f"{request.url.scheme}://{request.headers.get('host', '')}"
    if origin is not None and origin != own:
        return "pages of other origins cannot ask"
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return "pages of other origins cannot ask"
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return "" if kind == "application/json" else "the content type must be application/json"


async def _parts(request: Request) -> Any:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY:
            raise ValueError(f"it is longer than {MAX_BODY} bytes")
    return json.loads(bytes(body) or b"{}", parse_constant=_refuse)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no number in JSON")


def _json(found: dict[str, Any], status: int = 200) -> Response:
    content = json.dumps(found, allow_nan=False, separators=(",", ":")).encode()
    return Response(content, status, media_type="application/json", headers=SECURITY)


async def _elsewhere(request: Request, error: Exception) -> Response:
    """Answer for an address that is not there; who does not know the token learns nothing."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    return _json({"error": "there is nothing here"}, status)


async def _mistake(request: Request, error: Exception) -> Response:
    return _json({"error": "the explorer made a mistake; the terminal has more"}, 500)
