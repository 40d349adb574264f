"""The service: what is said at each address, and what is refused before the model sees it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
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

import mercer
from mercer.serving.answers import Answers
from mercer.serving.batches import Batches
from mercer.serving.limits import Limits
from mercer.serving.openapi import document, page
from mercer.serving.requests import Asked, Refused, admit_explanation, admit_rows, parse_body
from mercer.studies import SavedModel

__all__ = ["LOCAL", "service"]

# Names by which a browser may call a service on its own computer. Any other name could be that of
# a page elsewhere, which leads here to read what it should not.
LOCAL = ("localhost", "127.0.0.1", "[::1]")
SECURITY = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
}


def service(
    known: SavedModel, limits: Limits | None = None, hosts: tuple[str, ...] = LOCAL
) -> Starlette:
    """Return the ASGI application that answers for a model.

    Parameters
    ----------
    known : SavedModel
    limits : Limits, optional
    hosts : tuple of str
        The names by which it may be called, ("*",) for any.
    """
    answers, limits = Answers(known), limits or Limits()
    # What is loaded and compiled at the first use is not what the first asker waits for.
    answers.predict([Asked([dict.fromkeys(column.name for column in answers.columns)])])
    batches = Batches(answers.predict, limits.waiting)
    reasons = ThreadPoolExecutor(1, thread_name_prefix="mercer-reasons")
    described = json.dumps(document(answers, limits)).encode()
    shown = page(answers, limits)

    async def predict(request: Request) -> Response:
        asked = admit_rows(await _body(request, limits), answers.columns, limits, answers.sure)
        return _json(await _in_time(batches.ask(asked), limits))

    async def explain(request: Request) -> Response:
        body = await _body(request, limits)
        asked, count = admit_explanation(body, answers.columns, limits)
        work = asyncio.get_running_loop().run_in_executor(reasons, answers.explain, asked, count)
        return _json(await _in_time(work, limits))

    async def health(request: Request) -> Response:
        machine = type(known.machine).__name__
        return _json({"status": "ok", "mercer": mercer.__version__, "machine": machine})

    async def openapi(request: Request) -> Response:
        return Response(described, media_type="application/json", headers=SECURITY)

    async def front(request: Request) -> Response:
        return HTMLResponse(shown, headers=SECURITY)

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        yield
        batches.close()
        reasons.shutdown(wait=False, cancel_futures=True)

    return Starlette(
        routes=[
            Route("/predict", _refusing(predict), methods=["POST"]),
            Route("/explain", _refusing(explain), methods=["POST"]),
            Route("/health", health, methods=["GET"]),
            Route("/openapi.json", openapi, methods=["GET"]),
            Route("/", front, methods=["GET"]),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))],
        exception_handlers={HTTPException: _elsewhere, Exception: _mistake},
        lifespan=life,
    )


Handler = Callable[[Request], Awaitable[Response]]


def _refusing(handler: Handler) -> Handler:
    """Turn refusals of a handler into responses."""

    async def handle(request: Request) -> Response:
        try:
            return await handler(request)
        except Refused as refused:
            return _error(refused.status, refused.sentence)
        except ClientDisconnect:
            return _error(400, "the body was not sent to its end")

    return handle


async def _body(request: Request, limits: Limits) -> Any:
    """Return what the body of a request says, which must be JSON of a bearable size."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(415, "the content type must be application/json")
    too_large = Refused(413, f"the body is too large; at most {limits.bytes} bytes are read")
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > limits.bytes:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(limits.seconds):
            async for part in request.stream():
                body += part
                if len(body) > limits.bytes:
                    raise too_large
    except TimeoutError:
        raise Refused(408, f"the body did not come within {limits.seconds:g} s") from None
    return parse_body(bytes(body))


async def _in_time(work: Awaitable[dict[str, Any]], limits: Limits) -> dict[str, Any]:
    try:
        async with asyncio.timeout(limits.seconds):
            return await work
    except TimeoutError:
        raise Refused(503, f"there was no answer within {limits.seconds:g} s") from None


def _json(found: dict[str, Any], status: int = 200) -> Response:
    content = json.dumps(found, allow_nan=False, separators=(",", ":")).encode()
    return Response(content, status, media_type="application/json", headers=SECURITY)


def _error(status: int, sentence: str) -> Response:
    response = _json({"error": sentence}, status)
    if status == 503:
        response.headers["retry-after"] = "1"
    return response


async def _elsewhere(request: Request, error: Exception) -> Response:
    """Answer for an address or a method that is not there."""
    assert isinstance(error, HTTPException)
    response = _error(error.status_code, str(error.detail))
    response.headers.update(error.headers or {})
    return response


async def _mistake(request: Request, error: Exception) -> Response:
    """Answer for a mistake of ours, of which the log has more."""
    return _error(500, "the service made a mistake")
