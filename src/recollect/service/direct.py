"""The route that is asked most, answered without FastAPI where nothing is wrong with a request."""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import parse_qsl

from pydantic import TypeAdapter, ValidationError
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.access import granted
from recollect.errors import RecollectError
from recollect.service.asked import AskedMessages
from recollect.service.bodies import DOCUMENT
from recollect.service.problem import problem_of
from recollect.service.reaching import Reach
from recollect.service.routes.threads import IDEMPOTENCY_KEY_CHARACTERS_MAX, append
from recollect.stores.validate import ID_CHARACTERS_MAX, SEGMENTS_MAX

_PATH: Final = re.compile(r"/v1/threads/([^/]+)/messages")
_ANSWER: Final = TypeAdapter(dict[str, Any])
_SCOPE: Final = "scope"
_IDEMPOTENCY: Final = b"idempotency-key"
_TRACED: Final = "fastapi.telemetry"


class Direct:
    """
    Answers good appends itself; every other request goes on to FastAPI, which costs more.

    What FastAPI is told of the route (`recollect.service.routes.threads.append`) stays what holds:
    the document of the API is made of it, and it answers whatever is not plainly good, so that
    errors are its own. Here a request is read by the same models, and the same function is run.
    """

    path: Final = "/v1/threads/{thread}/messages"

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer an append, or pass the request on."""
        asked = read_append(scope)
        if asked is None:
            await self._app(scope, receive, send)
            return
        scope["route"] = self
        thread, segments, key, messages = asked
        state = scope["state"]
        try:
            principal = state["principal"]
            reach = Reach(
                service=scope["app"].state.service,
                principal=principal,
                scope=granted(principal, "write", segments),
            )
            answer = await append(reach, thread, messages, key)
        except RecollectError as error:
            await problem_of(error)(scope, receive, send)
            return
        body = _ANSWER.dump_json(answer)
        headers = [
            (b"content-length", str(len(body)).encode()),
            (b"content-type", b"application/json"),
        ]
        await send({"type": "http.response.start", "status": 201, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def read_append(scope: Scope) -> tuple[str, list[str], str | None, AskedMessages] | None:
    """
    Return thread, segments, idempotency key and messages of a request to append.

    Returns:
        ``None`` for any other request, and for one that is not in every part as documented.
    """
    if scope["type"] != "http" or scope["method"] != "POST" or scope.get("root_path"):
        return None
    found = _PATH.fullmatch(scope["path"])
    if found is None or len(found[1]) > ID_CHARACTERS_MAX or _TRACED in scope:
        return None
    segments = _segments(scope["query_string"])
    keys = [value for name, value in scope["headers"] if name == _IDEMPOTENCY]
    if segments is None or len(keys) > 1 or any(not _is_key(each) for each in keys):
        return None
    try:
        messages = AskedMessages.model_validate(scope["state"].get(DOCUMENT))
    except ValidationError:
        return None
    return found[1], segments, keys[0].decode("latin-1") if keys else None, messages


def _segments(query: bytes) -> list[str] | None:
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    found = [value for name, value in pairs if name == _SCOPE]
    is_good = len(found) <= SEGMENTS_MAX and all(0 < len(x) <= ID_CHARACTERS_MAX for x in found)
    return found if is_good else None


def _is_key(value: bytes) -> bool:
    return 0 < len(value) <= IDEMPOTENCY_KEY_CHARACTERS_MAX
