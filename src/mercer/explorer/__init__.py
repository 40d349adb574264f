"""The explorer: a fitted model as a page in the browser, to look at and to touch."""

from __future__ import annotations

from typing import Any

__all__ = ["Session", "Subject", "export_page", "open_subject"]

_HOMES = {
    "Session": "mercer.explorer.session",
    "Subject": "mercer.explorer.subject",
    "export_page": "mercer.explorer.exported",
    "open_subject": "mercer.explorer.opened",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
