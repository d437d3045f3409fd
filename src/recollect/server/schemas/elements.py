"""Parts shared by the responses of several routes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue
from pydantic.config import JsonDict

from recollect.records import Json

if TYPE_CHECKING:
    JsonAnswer: TypeAlias = dict[str, Json]
else:
    # FastAPI would validate each level against `Json`; `recollect.wire` has built valid JSON.
    JsonAnswer: TypeAlias = dict[str, Any]

Time = AwareDatetime
Object = dict[str, JsonValue]
Segments = Annotated[
    list[str], Field(description="Below the key's own scope.", examples=[["users", "ada"]])
]
Cursor = Annotated[str | None, Field(description="Continues after this page; null at the end.")]
Count = Annotated[int, Field(ge=0)]


def with_examples(*examples: JsonDict) -> ConfigDict:
    """Return the settings of a model that shows *examples* in ``/openapi.json``."""
    return ConfigDict(json_schema_extra={"examples": list(examples)})


class ResponseModel(BaseModel):
    """
    A response, or a part of one, without undeclared fields.

    The *title* of a class is its name in ``/openapi.json``.
    """

    model_config = ConfigDict(extra="forbid")


class FieldProblem(ResponseModel):
    """One validation error of a request."""

    path: str
    message: str


class ProblemResponse(ResponseModel, title="Problem"):
    """An error response (RFC 9457): why the request failed, and what to do."""

    model_config = with_examples(
        {
            "type": "urn:recollect:error:not_found",
            "title": "Not Found",
            "status": 404,
            "code": "not_found",
            "detail": "there is no thread 'x' in this scope: GET /v1/threads lists its threads",
        }
    )

    type: str
    title: str
    status: int
    code: str = Field(description="A stable code, for programs.")
    detail: str = Field(description="For people: the error, and how to fix it.")
    errors: list[FieldProblem] = []
    facts: Object = {}
    reason_code: str = Field(
        default="", description="What exactly is wrong, for programs that say it themselves."
    )
    values: Object = Field(default={}, description="The values that the reason names.")


class StatusResponse(ResponseModel, title="Status"):
    """The process responds."""

    status: str


class OkResponse(ResponseModel, title="Ok"):
    """The process responds, in the form of LangGraph's server."""

    ok: bool


class InfoResponse(ResponseModel, title="Info"):
    """The server's version, name and flags, in the form of LangGraph's server."""

    version: str
    name: str
    flags: dict[str, bool]
