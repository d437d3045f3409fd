"""The document of the routes, completed: what each answers, how it refuses, and with which key."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI
from pydantic.json_schema import models_json_schema

from recollect.server.http.authentication import is_guarded
from recollect.server.http.event_streams import MEDIA_TYPE as EVENTS
from recollect.server.http.problems import MEDIA_TYPE as PROBLEM
from recollect.server.schemas import administration as administered
from recollect.server.schemas import formation as formed
from recollect.server.schemas import memories
from recollect.server.schemas import recall as recalled
from recollect.server.schemas import threads as talk
from recollect.server.schemas.elements import ProblemResponse, ResponseModel, StatusResponse

_ONE: Final = "/v1/memories/{type}/{key}"
_LINES: Final = "application/x-ndjson"
_WRITES: Final = frozenset({"post", "put", "patch", "delete"})
_METHODS: Final = _WRITES | {"get"}

ANSWERS: Final[Mapping[tuple[str, str], type[ResponseModel]]] = {
    ("get", "/v1/threads"): talk.ThreadsResponse,
    ("get", "/v1/threads/{thread}"): talk.ThreadResponse,
    ("get", "/v1/threads/{thread}/messages"): talk.MessagesResponse,
    ("post", "/v1/threads/{thread}/messages"): talk.KeptResponse,
    ("put", "/v1/threads/{thread}/messages/{message}"): talk.MessageResponse,
    ("post", "/v1/recall"): recalled.RecallResponse,
    ("get", "/v1/memories"): memories.MemoriesResponse,
    ("get", _ONE): memories.MemoryResponse,
    ("put", _ONE): memories.ChangedMemoryResponse,
    ("get", f"{_ONE}/history"): memories.HistoryResponse,
    ("get", f"{_ONE}/recalls"): memories.MemoryUsesResponse,
    ("post", "/v1/remember"): memories.MemoryResponse,
    ("post", f"{_ONE}/approve"): memories.ChangedMemoryResponse,
    ("post", f"{_ONE}/reject"): memories.ChangedMemoryResponse,
    ("post", f"{_ONE}/restore"): memories.ChangedMemoryResponse,
    ("post", f"{_ONE}/end"): memories.ChangedMemoryResponse,
    ("get", "/v1/types"): memories.TypesResponse,
    ("put", "/v1/types"): memories.TypesResponse,
    ("post", "/v1/types/check"): memories.CheckResponse,
    ("get", "/v1/formation/pending"): formed.PendingResponse,
    ("post", "/v1/form"): formed.FormResponse,
    ("post", "/v1/formation/pause"): formed.SteeredResponse,
    ("post", "/v1/formation/resume"): formed.SteeredResponse,
    ("post", "/v1/formation/retry"): formed.RetriedResponse,
    ("get", "/v1/formations"): formed.FormationsResponse,
    ("get", "/v1/formations/{formation}"): formed.FormationResponse,
    ("post", "/v1/import"): formed.ImportResponse,
    ("post", "/v1/erase/preview"): formed.PreviewResponse,
    ("post", "/v1/erase"): formed.ReceiptResponse,
    ("get", "/v1/erase/receipts"): formed.ReceiptsResponse,
    ("get", "/v1/me"): administered.MeResponse,
    ("get", "/v1/scopes"): administered.ScopesResponse,
    ("get", "/v1/usage"): administered.UsageResponse,
    ("get", "/v1/audit"): administered.AuditResponse,
    ("get", "/v1/audit/verify"): administered.VerdictResponse,
    ("get", "/v1/keys"): administered.KeysResponse,
    ("post", "/v1/keys"): administered.NewKeyResponse,
    ("post", "/v1/keys/{id}/rotate"): administered.NewKeyResponse,
    ("get", "/v1/graph"): administered.GraphResponse,
    ("get", "/v1/health"): administered.HealthResponse,
    ("get", "/health/live"): StatusResponse,
    ("get", "/health/ready"): administered.ReadyResponse,
}
"""What each route answers in JSON; of LangGraph's routes its own documentation tells."""

STREAMS: Final[Mapping[tuple[str, str], str]] = {
    ("get", "/v1/export"): _LINES,
    ("get", "/v1/changes"): EVENTS,
    ("post", "/v1/chat"): EVENTS,
    ("get", "/metrics"): "text/plain",
}
"""The media types of what is not answered in JSON."""

_CREATED_TOO: Final = frozenset({("put", _ONE)})

_UNDOABLE: Final = ("delete", _ONE)
"""It answers with 204, or where it is to be undone with what does that."""

_HEADERS: Final[Mapping[int, Mapping[str, str]]] = {
    401: {"WWW-Authenticate": "How a key is sent."},
    429: {"Retry-After": "After so many seconds it may be asked again."},
}


def add_documents(app: FastAPI) -> None:
    """Add responses, errors and keys to an application's ``openapi()``."""
    described = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = completed(described())
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def completed(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document of the routes with all that is known of their answers."""
    models: set[type[ResponseModel]] = {*ANSWERS.values(), memories.UndoResponse, ProblemResponse}
    _, defined = models_json_schema(
        [(each, "validation") for each in sorted(models, key=str)],
        ref_template="#/components/schemas/{model}",
    )
    parts = document.setdefault("components", {})
    schemas = parts.setdefault("schemas", {})
    schemas.update(defined["$defs"])
    # Ours are problems: nothing is answered as FastAPI would.
    schemas.pop("HTTPValidationError", None)
    schemas.pop("ValidationError", None)
    refusals = set[int]()
    for method, path, operation in operations(document):
        _tell_answer(method, path, operation)
        codes = set(refusals_of(method, path))
        refusals |= codes
        for code in sorted(codes):
            operation["responses"][str(code)] = {"$ref": f"#/components/responses/Refused{code}"}
        if is_guarded(path):
            operation["security"] = [{"bearer": []}, {"key": []}]
    parts["responses"] = {f"Refused{code}": _refusal(code) for code in sorted(refusals)}
    parts["securitySchemes"] = {
        "bearer": {"type": "http", "scheme": "bearer"},
        "key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
    }
    return document


def operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield method, path and description of each operation."""
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method in _METHODS:
                yield method, path, operation


def refusals_of(method: str, path: str) -> Iterator[int]:
    """
    Yield the statuses of errors that an operation can be answered with.

    The server refuses with 400, 408, 421 and 431 what it cannot read, on any path.
    """
    yield from (400, 403, 408, 421, 431)
    if path == "/health/ready":
        yield 503
    if is_guarded(path) or path == "/metrics":
        yield from (401, 429, 503)
    if not is_guarded(path):
        return
    # A body is read, and refused, whether or not it is of use.
    yield from (413, 415, 422, 501)
    if "{" in path or method in _WRITES:
        yield 404
    if method in _WRITES:
        yield from (409, 410, 412, 502, 507)


def _tell_answer(method: str, path: str, operation: dict[str, Any]) -> None:
    responses = operation["responses"]
    responses.pop("422", None)
    model, media_type = ANSWERS.get((method, path)), STREAMS.get((method, path))
    given = next(each for each in responses if each.startswith("2"))
    if model is not None:
        reference = {"$ref": f"#/components/schemas/{model.__name__}"}
        responses[given]["content"] = {"application/json": {"schema": reference}}
    elif media_type is not None:
        # A stream as a whole has no schema: its events, or lines, come one after the other.
        responses[given]["content"] = {media_type: {}}
    if re.fullmatch(r"/v1/memories/\{type\}/\{key\}(/(?!history|recalls)\w+)?", path):
        responses[given]["headers"] = _told({"ETag": "The version of the memory."})
    if (method, path) == _UNDOABLE:
        schema = {"$ref": f"#/components/schemas/{memories.UndoResponse.__name__}"}
        content = {"application/json": {"schema": schema}}
        responses["200"] = {"description": "Removed, with `?undo=true`", "content": content}
    if (method, path) in _CREATED_TOO:
        responses["201"] = {**responses[given], "description": "Created"}


def _refusal(code: int) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{ProblemResponse.__name__}"}
    told = {"headers": _told(_HEADERS[code])} if code in _HEADERS else {}
    return {
        "description": HTTPStatus(code).phrase,
        "content": {PROBLEM: {"schema": schema}},
        **told,
    }


def _told(headers: Mapping[str, str]) -> dict[str, Any]:
    return {
        name: {"description": each, "schema": {"type": "string"}} for name, each in headers.items()
    }
