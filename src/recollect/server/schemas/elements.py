"""Parts shared by the responses of several routes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue

from recollect.records import Json

if TYPE_CHECKING:
    JsonAnswer: TypeAlias = dict[str, Json]
else:
    # FastAPI would check every answer against `Json`, at each level: `recollect.wire` made it.
    JsonAnswer: TypeAlias = dict[str, Any]

Time = AwareDatetime
Object = dict[str, JsonValue]
Segments = Annotated[
    list[str], Field(description="Below the key's own scope.", examples=[["users", "ada"]])
]
Cursor = Annotated[
    str | None, Field(description="Goes on after this page; null where there is no more.")
]
Count = Annotated[int, Field(ge=0)]


class ResponseModel(BaseModel):
    """
    An answer, or a part of one: every field is named, and none stands beside them.

    The *title* of a class is its name in ``/openapi.json``.
    """

    model_config = ConfigDict(extra="forbid")


class FieldProblem(ResponseModel):
    """One thing that is wrong with a request."""

    path: str
    message: str


class ProblemResponse(ResponseModel, title="Problem"):
    """An error response (RFC 9457): why the request failed, and what to do."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "type": "urn:recollect:error:not_found",
                    "title": "Not Found",
                    "status": 404,
                    "code": "not_found",
                    "detail": "there is no thread 'x' in this scope: GET /v1/threads lists those "
                    "there are",
                }
            ]
        },
    )

    type: str
    title: str
    status: int
    code: str = Field(description="Stable, for programs.")
    detail: str = Field(description="What happened, and what to do, for people.")
    errors: list[FieldProblem] = []
    facts: Object = {}


class StatusResponse(ResponseModel, title="Status"):
    """The process answers."""

    status: str


class OkResponse(ResponseModel, title="Ok"):
    """The process answers, as LangGraph's server says it."""

    ok: bool


class InfoResponse(ResponseModel, title="Info"):
    """The server's version, name and flags, in the form of LangGraph's server."""

    version: str
    name: str
    flags: dict[str, bool]
