"""OpenAPI: what the service takes and says, for programs, and the same on a page for people."""

from __future__ import annotations

import html
import json
from typing import Any

import mercer
from mercer.serving.answers import Answers
from mercer.serving.limits import Limits
from mercer.serving.requests import MAX_COUNT, row_schema

__all__ = ["document", "page"]

ERRORS = {
    400: "The body is not JSON.",
    408: "The body did not come in time.",
    413: "The body is too large.",
    415: "The content type is not application/json.",
    422: "The body does not fit the schema, or the model refuses a row.",
    503: "Too many requests are waiting, or there was no answer in time.",
}
EXAMPLES = {"numeric": 1.5, "date": "2024-02-28"}
STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}"
    "pre{background:#f4f4f4;padding:1rem;overflow:auto}table{border-collapse:collapse}"
    "td,th{text-align:left;padding:.2rem 1rem .2rem 0;vertical-align:top}"
)


def document(answers: Answers, limits: Limits) -> dict[str, Any]:
    """Return the description of the service in OpenAPI 3.1."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "A model of mercer's",
            "version": mercer.__version__,
            "description": "Predictions for rows of a table, and why.",
        },
        "paths": {
            "/predict": {"post": _operation("predict", "Predict rows.", "Rows", "Answers")},
            "/explain": {"post": _operation("explain", "Say why a row is predicted as it is.",
                                            "OneRow", "Reasons")},
            "/health": {"get": {
                "operationId": "health",
                "summary": "Say whether the model answers, and which it is.",
                "responses": {"200": _json("Health", "It does.")},
            }},
        },
        "components": {"schemas": _schemas(answers, limits)},
    }  # fmt: skip


def _operation(name: str, summary: str, takes: str, gives: str) -> dict[str, Any]:
    responses = {"200": _json(gives, "The answer.")}
    responses |= {str(status): _json("Error", words) for status, words in ERRORS.items()}
    body = {"required": True, "content": {"application/json": {"schema": _reference(takes)}}}
    return {
        "operationId": name,
        "summary": summary,
        "requestBody": body,
        "responses": responses,
    }


def _schemas(answers: Answers, limits: Limits) -> dict[str, Any]:
    prediction = {"type": "number"} if answers.known.classes is None else {}
    answer = {
        "prediction": prediction,
        "probabilities": {"type": "object", "additionalProperties": {"type": "number"}},
        "careful": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Why the answer is doubtful; empty where it is not.",
        },
    }
    chances = {"type": "boolean"} if answers.sure else {"const": False}
    return {
        "Row": row_schema(answers.columns, limits.letters),
        "Rows": _object(
            ["rows"],
            rows={
                "type": "array", "items": _reference("Row"), "minItems": 1,
                "maxItems": limits.rows,
            },
            probabilities=chances | {"description": "Whether to add those of all classes."},
        ),
        "OneRow": _object(
            ["row"],
            row=_reference("Row"),
            count={
                "type": "integer", "minimum": 1, "maximum": MAX_COUNT, "default": 5,
                "description": "How many known rows and features are told.",
            },
        ),
        "Answer": {"type": "object", "properties": answer, "required": ["prediction", "careful"]},
        "Answers": _object(["answers"], answers={"type": "array", "items": _reference("Answer")}),
        "Reasons": {
            "type": "object",
            "properties": {
                **answer,
                "score": {"type": ["number", "null"]},
                "toward": {},
                "offset": {"type": ["number", "null"], "description": "The same for any row."},
                "parts": {"type": "array", "items": {"type": "object"}},
                "features": {"type": "array", "items": {"type": "object"}},
                "known_rows": {"type": "array", "items": {"type": "object"}},
            },
            "required": ["prediction", "score", "offset", "known_rows"],
        },
        "Health": {"type": "object", "properties": {"status": {"const": "ok"}},
                   "required": ["status"]},
        "Error": _object(["error"], error={"type": "string"}),
    }  # fmt: skip


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _json(schema: str, words: str) -> dict[str, Any]:
    return {
        "description": words,
        "content": {"application/json": {"schema": _reference(schema)}},
    }


def _reference(schema: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{schema}"}


def page(answers: Answers, limits: Limits) -> str:
    """Return a page about the service, which loads nothing and runs nothing."""
    row = {column.name: EXAMPLES.get(column.kind, "…") for column in answers.columns}
    body = json.dumps({"rows": [row]}, ensure_ascii=False, indent=2)
    columns = "".join(
        f"<tr><td>{html.escape(column.name)}</td><td>{html.escape(column.kind)}</td></tr>"
        for column in answers.columns
    )
    found = document(answers, limits)
    paths = "".join(
        f"<tr><td><code>{method.upper()} {path}</code></td><td>{html.escape(what['summary'])}"
        "</td></tr>"
        for path, methods in found["paths"].items()
        for method, what in methods.items()
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>A model of mercer\'s</title>'
        f"<style>{STYLE}</style><h1>A model of mercer's</h1><table>{paths}"
        '<tr><td><code>GET <a href="openapi.json">/openapi.json</a></code></td>'
        "<td>All of this for programs (OpenAPI 3.1).</td></tr></table>"
        f"<h2>Columns</h2><table><tr><th>name</th><th>kind</th></tr>{columns}</table>"
        f"<h2>A request to /predict</h2><pre>{html.escape(body)}</pre>"
        f"<p>Of type <code>application/json</code>; at most {limits.rows} rows and "
        f"{limits.bytes} bytes. null stands for what is not known.</p></html>"
    )
