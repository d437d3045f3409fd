"""Fast paths: handle valid requests to the busiest routes without FastAPI."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar, Final, TypeAlias
from urllib.parse import parse_qsl

from pydantic import TypeAdapter, ValidationError
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.errors import RecollectError, StaleReadError
from recollect.server.authorization import Permission, granted
from recollect.server.http.authentication import STAMP, verify_cached_key
from recollect.server.http.problems import problem_of
from recollect.server.http.query_params import has_written_slash
from recollect.server.http.request_bodies import DOCUMENT
from recollect.server.http.scope_access import IDEMPOTENCY_KEY_CHARACTERS_MAX, Reach
from recollect.server.routes.changes import LAST_EVENT_ID_CHARACTERS_MAX, changes
from recollect.server.routes.recall import recall
from recollect.server.routes.threads import append
from recollect.server.schemas.recall_requests import RecallRequest
from recollect.server.schemas.requests import AppendRequest
from recollect.stores.validation import ID_CHARACTERS_MAX, SEGMENTS_MAX
from recollect.text.word_caches import word_cache

_MESSAGES: Final = re.compile(r"/v1/threads/([^/]+)/messages")
_RECALL: Final = "/v1/recall"
_CHANGES: Final = "/v1/changes"
_ANSWER: Final = TypeAdapter(dict[str, Any])
_SCOPE: Final = "scope"
_TRACED: Final = "fastapi.telemetry"
_QUERIES_MAX: Final = 1_024


@dataclass(frozen=True, slots=True)
class _Route:
    """The template of a route, as the log and the metrics name it."""

    path: str


_APPEND_ROUTE: Final = _Route("/v1/threads/{thread}/messages")
_RECALL_ROUTE: Final = _Route(_RECALL)
_CHANGES_ROUTE: Final = _Route(_CHANGES)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedAppend:
    """A valid request to append messages."""

    thread: str
    segments: tuple[str, ...]
    key: str | None
    messages: AppendRequest

    route: ClassVar[_Route] = _APPEND_ROUTE
    needs: ClassVar[Permission] = "write"

    async def answer(self, reach: Reach) -> Response:
        """Append the messages."""
        kept = await append(reach, self.thread, self.messages, self.key)
        return Response(_ANSWER.dump_json(kept), 201, media_type="application/json")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedRecall:
    """A valid request to recall."""

    segments: tuple[str, ...]
    asked: RecallRequest

    route: ClassVar[_Route] = _RECALL_ROUTE
    needs: ClassVar[Permission] = "read"

    async def answer(self, reach: Reach) -> Response:
        """Search."""
        found = await recall(reach, self.asked)
        return Response(_ANSWER.dump_json(found), media_type="application/json")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedChanges:
    """A valid request for a stream of changes."""

    segments: tuple[str, ...]
    last_event_id: str | None

    route: ClassVar[_Route] = _CHANGES_ROUTE
    needs: ClassVar[Permission] = "read"

    async def answer(self, reach: Reach) -> Response:
        """Open the stream."""
        return await changes(reach, self.last_event_id)


ParsedRequest: TypeAlias = ParsedAppend | ParsedRecall | ParsedChanges


class FastRoutes:
    """
    Middleware that handles valid appends, recalls and change streams without FastAPI's overhead.

    FastAPI's routes remain authoritative. The OpenAPI document is generated from them, and they
    handle every request that is not plainly valid, so that errors come from one place. Requests
    here are parsed by the same models and run the same functions.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request, or pass it on."""
        asked = read_fast_request(scope)
        answer: ASGIApp = self._app
        try:
            if asked is None:
                await verify_cached_key(scope)
            else:
                answer = await answer_parsed(asked, scope)
        except RecollectError as error:
            answer = problem_of(error).response()
        await answer(scope, receive, send)


def is_append(scope: Scope) -> bool:
    """Return True if the method and path of a request are those of an append."""
    return bool(scope["method"] == "POST" and _MESSAGES.fullmatch(scope["path"]))


async def answer_parsed(asked: ParsedRequest, scope: Scope) -> Response:
    """Carry a request out; return its response, which may be a problem."""
    scope["route"] = asked.route
    try:
        try:
            return await asked.answer(_reach(asked, scope))
        except StaleReadError:  # the cached key or types are outdated: read the key, and try again
            await verify_cached_key(scope)
            return await asked.answer(_reach(asked, scope))
    except RecollectError as error:
        return problem_of(error).response()


def _reach(asked: ParsedRequest, scope: Scope) -> Reach:
    principal = scope["state"]["principal"]
    return Reach(
        service=scope["app"].state.service,
        principal=principal,
        scope=granted(principal, asked.needs, asked.segments),
        stamp=scope["state"].get(STAMP),
    )


def read_fast_request(scope: Scope) -> ParsedRequest | None:
    """
    Parse the request.

    Returns:
        ``None`` for any other request, and for one that is not plainly valid.
    """
    if scope["type"] != "http" or is_traced(scope) or has_written_slash(scope):
        return None
    if scope["method"] == "GET" and scope["path"] == _CHANGES:
        return _read_changes(scope)
    if scope["method"] == "POST" and scope["path"] == _RECALL:
        return _read_recall(scope)
    thread = thread_in(scope)
    if thread is None:
        return None
    try:
        return read_append(scope, thread, scope["state"].get(DOCUMENT))
    except ValidationError:
        return None


def is_traced(scope: Scope) -> bool:
    """Return True if FastAPI serves the request below a path, or traces it."""
    return bool(scope.get("root_path")) or _TRACED in scope


def thread_in(scope: Scope) -> str | None:
    """Return the thread that an append names in its path, ``None`` for any other request."""
    found = _MESSAGES.fullmatch(scope["path"]) if scope["method"] == "POST" else None
    # `NamedRoute` matches names with an escaped slash; the decoded path would split them.
    return None if found is None or has_written_slash(scope) else found[1]


def _read_changes(scope: Scope) -> ParsedChanges | None:
    segments = _segments(scope["query_string"])
    ids = _values(scope, b"last-event-id")
    if segments is None or len(ids) > 1 or len("".join(ids)) > LAST_EVENT_ID_CHARACTERS_MAX:
        return None
    return ParsedChanges(segments=segments, last_event_id=ids[0] if ids else None)


def _read_recall(scope: Scope) -> ParsedRecall | None:
    segments = _segments(scope["query_string"])
    if segments is None:
        return None
    try:
        asked = RecallRequest.model_validate(scope["state"].get(DOCUMENT))
    except ValidationError:
        return None
    return ParsedRecall(segments=segments, asked=asked)


def read_append(scope: Scope, thread: str, document: object) -> ParsedAppend | None:
    """Return an append to *thread* with the body *document*; ``None`` if its head is not valid."""
    segments = _segments(scope["query_string"])
    keys = _values(scope, b"idempotency-key")
    are_good = all(0 < len(each) <= IDEMPOTENCY_KEY_CHARACTERS_MAX for each in keys)
    if segments is None or len(keys) > 1 or not are_good or len(thread) > ID_CHARACTERS_MAX:
        return None
    messages = AppendRequest.model_validate(document)
    key = keys[0] if keys else None
    return ParsedAppend(thread=thread, segments=segments, key=key, messages=messages)


def _values(scope: Scope, header: bytes) -> list[str]:
    return [value.decode("latin-1") for name, value in scope["headers"] if name == header]


@word_cache(maxsize=_QUERIES_MAX)
def _segments(query: bytes) -> tuple[str, ...] | None:
    """Return the scope that a query names; cached, since clients repeat theirs."""
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    are_good = all(
        name == _SCOPE and 0 < len(segment) <= ID_CHARACTERS_MAX for name, segment in pairs
    )
    return tuple(each for _, each in pairs) if are_good and len(pairs) <= SEGMENTS_MAX else None
