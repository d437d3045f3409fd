"""Complete FastAPI's OpenAPI document with responses, errors and authentication."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, TypeAlias

from pydantic import TypeAdapter

from recollect.server.http.api_operations import OPERATIONS, Documented
from recollect.server.http.authentication import is_guarded
from recollect.server.http.problems import MEDIA_TYPE as PROBLEM
from recollect.server.schemas.elements import ProblemResponse
from recollect.server.schemas.memories import UndoResponse

_ONE: Final = "/v1/memories/{type}/{key}"
_WRITES: Final = frozenset({"post", "put", "patch", "delete"})
_METHODS: Final = _WRITES | {"get"}
_REFERENCE: Final = "#/components/schemas/"

_CREATED_TOO: Final = frozenset({("put", _ONE)})

_UNDOABLE: Final = ("delete", _ONE)
"""It responds with 204, or with an undo token if the request wants one."""

_HEADERS: Final[Mapping[int, Mapping[str, str]]] = {
    401: {"WWW-Authenticate": "How to send a key."},
    429: {"Retry-After": "Seconds until the request may be repeated."},
}
FILE: Final = Path(__file__).with_name("api_examples.json")
"""Written by ``python -m tests.service.example_story``; a test repeats its requests."""
ApiPart: TypeAlias = dict[str, Any]
"""A part of the OpenAPI document, as FastAPI generates it."""
Examples = Mapping[str, Mapping[str, Any]]
"""Path parameters, query, body, status and response of an example, by operation id."""
_UNDO: Final = {"undo": "eyJhdCI6MTc3NzYyOTYwMDAwMDAwMH0.Xk2…"}
_DETAILS: Final[Mapping[int, str]] = {
    400: "the body cannot be read: send one JSON object in UTF-8",
    401: "there is no API key in the request: send one as 'x-api-key: KEY'",
    403: "this needs the permission 'write', and the key has read",
    404: "there is no memory Fact/home in this scope: GET /v1/memories lists them",
    412: "Fact/home is at version 2, and 1 was expected: read it again",
    413: "the body is larger than 1000000 bytes (body_bytes_max), the limit",
    422: "query/limit: Input should be less than or equal to 200, not '500'; see /openapi.json",
    429: "over 20 requests a second: ask again later",
}


def completed(document: ApiPart) -> ApiPart:
    """Return FastAPI's document with response schemas, errors, security schemes and examples."""
    examples = read_examples()
    answers = {each.answer for each in OPERATIONS.values() if each.answer is not None}
    schemas, defined = _schemas_of([*answers, UndoResponse, ProblemResponse])
    parts = document.setdefault("components", {})
    parts.setdefault("schemas", {}).update(defined)
    # Our errors are problems: FastAPI's own error schemas do not apply.
    parts["schemas"].pop("HTTPValidationError", None)
    parts["schemas"].pop("ValidationError", None)
    refusals = set[int]()
    for method, path, operation in operations(document):
        _add_response(method, path, operation, schemas)
        add_example(operation, examples)
        codes = set(refusals_of(method, path))
        refusals |= codes
        for code in sorted(codes):
            operation["responses"][str(code)] = {"$ref": f"#/components/responses/Refused{code}"}
        if is_guarded(path):
            operation["security"] = [{"bearer": []}, {"key": []}]
    problem = schemas[ProblemResponse]
    parts["responses"] = {f"Refused{code}": _refusal(code, problem) for code in sorted(refusals)}
    parts["securitySchemes"] = {
        "bearer": {"type": "http", "scheme": "bearer"},
        "key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
    }
    return titled(document)


def _schemas_of(answers: Sequence[Any]) -> tuple[dict[Any, Any], ApiPart]:
    """Return the schema of each response type, and the definitions that they refer to."""
    found, defined = TypeAdapter.json_schemas(
        [(each, "validation", TypeAdapter(each)) for each in sorted(answers, key=str)],
        ref_template=f"{_REFERENCE}{{model}}",
    )
    return {each: schema for (each, _), schema in found.items()}, defined["$defs"]


def titled(document: ApiPart) -> ApiPart:
    """
    Return *document* with each schema renamed to its title, which generated clients use.

    Raises:
        ValueError: Two schemas have the same title.
    """
    schemas = document["components"]["schemas"]
    names = {name: str(schema.get("title", name)) for name, schema in schemas.items()}
    if len(set(names.values())) < len(names):
        raise ValueError(f"schemas share a title: {sorted(names.values())}")
    document["components"]["schemas"] = {names[name]: schemas[name] for name in schemas}
    renamed: ApiPart = _renamed(document, names)
    return renamed


def _renamed(part: object, names: Mapping[str, str]) -> Any:
    """Return a part of a document with every reference renamed."""
    if isinstance(part, list):
        return [_renamed(each, names) for each in part]
    if isinstance(part, dict):
        return {name: _renamed(each, names) for name, each in part.items()}
    if isinstance(part, str) and part.startswith(_REFERENCE):
        return _REFERENCE + names[part.removeprefix(_REFERENCE)]
    return part


def operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, ApiPart]]:
    """Yield method, path and description of each operation."""
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method in _METHODS:
                yield method, path, operation


def refusals_of(method: str, path: str) -> Iterator[int]:
    """
    Yield the error statuses of an operation.

    400, 408, 421 and 431 are those of unreadable requests, on any path.
    """
    yield from (400, 403, 408, 421, 431)
    if path == "/health/ready":
        yield 503
    if is_guarded(path) or path == "/metrics":
        yield from (401, 429, 503)
    if not is_guarded(path):
        return
    # A body is read and validated even if the operation does not use it.
    yield from (413, 415, 422, 501)
    if "{" in path or method in _WRITES:
        yield 404
    if method in _WRITES:
        yield from (409, 410, 412, 502, 507)


def _add_response(method: str, path: str, operation: ApiPart, schemas: Mapping[Any, Any]) -> None:
    """Set the id and the successful response of an operation."""
    documented = OPERATIONS.get((method, path), Documented(operation["operationId"]))
    operation["operationId"] = documented.id
    responses = operation["responses"]
    responses.pop("422", None)
    given = next(each for each in responses if each.startswith("2"))
    if documented.answer is not None:
        responses[given]["content"] = {"application/json": {"schema": schemas[documented.answer]}}
    elif documented.stream is not None:
        # OpenAPI has no schema for a stream of events or lines.
        responses[given]["content"] = {documented.stream: {}}
    if re.fullmatch(r"/v1/memories/\{type\}/\{key\}(/(?!history|recalls)\w+)?", path):
        responses[given]["headers"] = _described({"ETag": "The version of the memory."})
    if (method, path) == _UNDOABLE:
        content = {"application/json": {"schema": schemas[UndoResponse]}}
        responses["200"] = {"description": "Removed, with `?undo=true`", "content": content}
    if (method, path) in _CREATED_TOO:
        responses["201"] = {**responses[given], "description": "Created"}


def _refusal(code: int, problem: Mapping[str, object]) -> ApiPart:
    headers = {"headers": _described(_HEADERS[code])} if code in _HEADERS else {}
    return {
        "description": HTTPStatus(code).phrase,
        "content": {PROBLEM: {"schema": problem, "example": refusal_example(code)}},
        **headers,
    }


def _described(headers: Mapping[str, str]) -> ApiPart:
    return {
        name: {"description": each, "schema": {"type": "string"}} for name, each in headers.items()
    }


def read_examples() -> Examples:
    """Return the examples of all operations."""
    found: Examples = json.loads(FILE.read_text("utf-8"))
    return found


def add_example(operation: ApiPart, examples: Examples) -> None:
    """Add the recorded example of an operation to its parameters, body and responses."""
    example = examples.get(operation["operationId"])
    if example is None:
        return
    given = {**example["query"], **example["path"]}
    for parameter in operation.get("parameters", ()):
        if parameter["name"] in given:
            parameter["example"] = given[parameter["name"]]
    if example["body"] is not None:
        for content in operation["requestBody"]["content"].values():
            content["example"] = example["body"]
    for status, answer in operation["responses"].items():
        for content in answer.get("content", {}).values():
            is_undo = status == "200" and example["status"] == HTTPStatus.NO_CONTENT
            content["example"] = _UNDO if is_undo else example["answer"]


def refusal_example(code: int) -> ApiPart:
    """Return an example problem with a status."""
    phrase = HTTPStatus(code).phrase
    name = phrase.lower().replace(" ", "_")
    return {
        "type": f"urn:recollect:error:{name}",
        "title": phrase,
        "status": code,
        "code": name,
        "detail": _DETAILS.get(code, f"{phrase}: see docs/service.md"),
    }
