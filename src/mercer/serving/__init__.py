"""Serving: a model that answers other programs over HTTP, as JSON."""

from mercer.serving.limits import Limits

__all__ = ["Limits"]
