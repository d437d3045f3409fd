"""
Examples in ``/openapi.json``, recorded from requests to a real service.

``python -m tests.service.example_story`` writes `api_examples.json`. A test repeats the requests
and validates each response against its schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, TypeAlias

FILE: Final = Path(__file__).with_suffix(".json")
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
