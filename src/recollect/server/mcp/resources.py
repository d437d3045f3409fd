"""Resources and prompts: the profile, threads, memories, and the context of a question."""

from __future__ import annotations

import json
import re
from typing import Final
from urllib.parse import quote, unquote

from recollect.errors import LimitError, NotFoundError
from recollect.recall.context import context_guide
from recollect.recall.rendering import visible
from recollect.records import Json
from recollect.server.mcp.callers import McpCaller
from recollect.server.mcp.recollect_tool_calls import RecollectTools
from recollect.wire.memories import memory_to_json, revision_to_json
from recollect.wire.threads import message_to_json

SCHEME: Final = "recollect"
PROFILE_URI: Final = f"{SCHEME}://profile"
THREAD_TEMPLATE: Final = f"{SCHEME}://threads/{{thread}}"
MEMORY_TEMPLATE: Final = f"{SCHEME}://memories/{{type}}/{{key}}"
THREADS_PAGE: Final = 50
MESSAGES_SHOWN: Final = 100
URI_CHARACTERS_MAX: Final = 4_000
NOTHING_RELEVANT: Final = "Nothing relevant is remembered."
_THREAD: Final = re.compile(r"recollect://threads/([^/?#]+)")
_MEMORY: Final = re.compile(r"recollect://memories/([^/?#]+)/([^/?#]+)")


def thread_uri(thread: str) -> str:
    """
    Return the URI of a thread, percent-encoded.

    >>> thread_uri("my/talk")
    'recollect://threads/my%2Ftalk'
    """
    return THREAD_TEMPLATE.replace("{thread}", quote(thread, safe=""))


async def read_resource(caller: McpCaller, tools: RecollectTools, uri: str) -> str:
    """
    Return a resource as JSON.

    Raises:
        NotFoundError: There is none at this URI.
        ForbiddenError: The caller's key lacks the permission ``read``.
        LimitError: The URI is too long.
    """
    scope = caller.reach("read")
    if len(uri) > URI_CHARACTERS_MAX:
        what = "characters of a resource's address"
        raise LimitError(what, len(uri), URI_CHARACTERS_MAX, "URI_CHARACTERS_MAX")
    if uri == PROFILE_URI:
        return _encode(await tools.profile(caller))
    if found := _THREAD.fullmatch(uri):
        thread = unquote(found[1])
        if await caller.memory.thread(scope, thread) is None:
            raise NotFoundError(f"there is no thread {thread!r}")
        newest = await caller.memory.last_messages(scope, thread, limit=MESSAGES_SHOWN)
        messages: list[Json] = [message_to_json(each) for each in newest]
        return _encode({"thread": thread, "messages": messages})
    if found := _MEMORY.fullmatch(uri):
        type_, key = unquote(found[1]), unquote(found[2])
        memory = await caller.memory.get(scope, type_, key)
        if memory is None:
            raise NotFoundError(f"there is no memory {type_}/{key}")
        revisions = await caller.memory.history(scope, type_, key)
        history: list[Json] = [revision_to_json(each) for each in reversed(revisions)]
        shown = {name: each for name, each in memory_to_json(memory).items() if name != "scope"}
        return _encode({"memory": shown, "history": history})
    msg = f"there is no resource {uri[:200]!r}: use {PROFILE_URI}, or one of the templates"
    raise NotFoundError(msg)


async def prompt_of_recall(caller: McpCaller, question: str) -> str:
    """Return a prompt with the remembered context of a question, as data, and the question."""
    scope = caller.reach("read")
    caller.use(scope, recalls=1)
    found = await caller.memory.context(scope, question)
    return f"{context_guide()}\n\n{found.text or NOTHING_RELEVANT}\n\n{question}"


PROMPT_OF_REMEMBERING: Final = (
    "Look back over this talk. For each lasting thing that I said about myself, my plans or how "
    "I want to be helped, search the memory; save what is not there, with my exact words as "
    "quotes, and update what I have said otherwise since. Then list what you changed."
)


def _encode(document: Json) -> str:
    return visible(json.dumps(document, ensure_ascii=False))
