"""A memory service for Google's Agent Development Kit: sessions are threads, and searchable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from inspect import signature
from typing import Final, TypeAlias

from google.adk.events import Event
from google.adk.memory import BaseMemoryService
from google.adk.memory.base_memory_service import SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import Session
from google.genai.types import Content, FunctionResponse, Part

from recollect.errors import UsageError
from recollect.integrations.entry_ids import entry_id, erase_target
from recollect.integrations.storable_items import storable_text
from recollect.integrations.thread_items import check_count
from recollect.lifecycle.erased_records import Erasures, ScopeErasures, erased_among
from recollect.memory.context_sources import idle_below
from recollect.memory.facade import Recollect
from recollect.recall.empty_turns import plain_words, without_empty
from recollect.recall.query import MATCHES_MAX, query_in
from recollect.recall.results import Recalled
from recollect.records import JsonObject, Message, NewMessage, Role, Scope, ScopeLike
from recollect.stores.validation import MESSAGES_MAX, check_scope
from recollect.sync.object_home import AnyRecollect, Home
from recollect.text.searchable import memory_text

KIND: Final = "google_adk"
ENTRIES: Final = 10
"""Entries that a search returns by default, at most."""
SEARCHED: Final = 5
"""Entries searched for each that is returned: questions asked before are left out."""
NEWEST: Final = 100
"""The newest messages of a thread among which to look for events appended before."""
NO_SESSION: Final = "events"
"""The thread of events without a session."""


ScopeChoice: TypeAlias = "ScopeLike | Callable[[str, str], ScopeLike]"
"""A scope for every user, or a function of an application's name and a user's id."""


def user_scope(app_name: str, user_id: str) -> ScopeLike:  # noqa: ARG001 (as it is called)
    """Return the scope of a user, the same in every application and framework."""
    return (user_id,)


def scope_function(scope: ScopeChoice) -> Callable[[str, str], Scope]:
    """
    Return *scope* as a function of an application's name and a user's id.

    Raises:
        UsageError: It is neither a scope nor a function of these two.
    """
    if not callable(scope):
        fixed = check_scope(scope)
        return lambda _app, _user: fixed
    try:
        signature(scope).bind("app", "user")
    except TypeError as error:
        raise UsageError(
            "scope is called with the application's name and the user's id, as in "
            f"scope=lambda app, user: (app, user); {scope!r} does not accept these: {error}"
        ) from error
    return lambda app, user: check_scope(scope(app, user))


class RecollectMemoryService(BaseMemoryService):  # type: ignore[misc] # not installed
    """
    A ``memory_service`` for a ``Runner``: sessions are searchable at once, and formed.

    Each session is a thread. `search_memory`, which ADK's tools ``load_memory`` and
    ``preload_memory`` call, finds messages and memories alike.
    """

    def __init__(
        self,
        memory: AnyRecollect,
        scope: ScopeChoice = user_scope,
        *,
        limit: int = ENTRIES,
    ) -> None:
        """
        Create a service over an open memory.

        Args:
            scope: A function that returns the scope for an application's name and a user's id; or
                one scope, which all users share. By default the user's id.
            limit: The most entries that a search returns.

        Raises:
            UsageError: *scope* is neither; or *limit* is no whole number from 1.
        """
        self._home = Home(memory)
        self._scope = scope_function(scope)
        self._limit = check_count(limit, "limit")

    async def add_session_to_memory(self, session: Session) -> None:
        """Append the events that are new since the session was last added."""
        await self.add_events_to_memory(
            app_name=session.app_name,
            user_id=session.user_id,
            events=session.events,
            session_id=session.id,
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: JsonObject | None = None,
    ) -> None:
        """
        Append the texts of events, except those before the last event that is stored already.

        Events that were erased here stay erased, though the session still has them.

        *custom_metadata*, which is JSON, is stored with each message.
        """
        scope, thread = self._scope(app_name, user_id), session_id or NO_SESSION
        beside = dict(custom_metadata or {})
        said = [each for event in events if (each := _message_of(event, beside)) is not None]

        async def append(memory: Recollect) -> None:
            new = await _unknown(memory, scope, thread, said)
            for start in range(0, len(new), MESSAGES_MAX):
                await memory.append(scope, thread, new[start : start + MESSAGES_MAX])

        await self._home.visit(append)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: JsonObject | None = None,
    ) -> None:
        """
        Store the text of each entry as a note found by an agent; equal texts are one note.

        The source of the notes is ``google_adk``.
        """
        scope = self._scope(app_name, user_id)

        async def remember(memory: Recollect) -> None:
            for each in memories:
                text = text_in(each.content)
                await memory.remember(scope, text, trust="agent", source=KIND)

        await self._home.visit(remember)

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """
        Return the entries of the user's memory relevant to *query*, best first.

        There are none if nothing bears on the query.
        """
        scope = self._scope(app_name, user_id)
        if not query.strip():
            return SearchMemoryResponse()
        found = await self._home.visit(
            lambda memory: memory.recall(
                scope, query_in(query), limit=min(SEARCHED * self._limit, MATCHES_MAX)
            )
        )
        best = max((each.relevance for each in found.entries), default=0.0)
        if best < idle_below(found, query):
            return SearchMemoryResponse()
        entries = without_empty(found.entries, lambda each: each.content)
        kept = [each for each in entries if plain_words(each.text) != plain_words(query)]
        return SearchMemoryResponse(memories=[_entry_of(each) for each in kept[: self._limit]])

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """
        Erase an entry, and everything derived from it alone; do nothing if it is gone.

        Raises:
            UsageError: *memory_id* is not an id that `search_memory` returned.
        """
        scope, target = self._scope(app_name, user_id), erase_target(memory_id)
        await self._home.visit(lambda memory: memory.erase(scope, target))


async def _unknown(
    memory: Recollect, scope: Scope, thread: str, said: Sequence[NewMessage]
) -> Sequence[NewMessage]:
    """Return the messages after the last stored one, without those that were erased here."""
    ids = {each.id for each in await memory.last_messages(scope, thread, limit=NEWEST)}
    known = [place for place, each in enumerate(said) if each.id in ids]
    new = said[known[-1] + 1 :] if known else said
    if not new:
        return ()
    # A session has all of its events for good: without the ledger, the last ones, or the whole of
    # an erased thread, would come back with the next run.
    erasures = ScopeErasures(Erasures(await memory.store.ledger()), scope)
    erased = erased_among(erasures, thread, new)
    return [each for each, is_erased in zip(new, erased, strict=True) if not is_erased]


def _message_of(event: Event, beside: JsonObject) -> NewMessage | None:
    """Return an event as a message; ``None`` for one without text, or a partial one."""
    text = text_in(event.content)
    if event.partial or not text:
        return None
    role: Role = "user" if event.author == "user" else "assistant"
    if event.get_function_responses():
        role = "tool"
    return NewMessage(
        role=role,
        text=storable_text(text),
        id=event.id or None,
        time=datetime.fromtimestamp(event.timestamp, UTC),
        metadata={**beside, KIND: {"author": event.author}},
    )


def text_in(content: Content | None) -> str:
    """Return the text of a content, with tool results and without the model's thoughts."""
    texts = []
    for part in (content and content.parts) or ():
        if part.text and not part.thought:
            texts.append(part.text)
        if part.function_response and part.function_response.response:
            texts.append(_returned_text(part.function_response))
    return "\n".join(texts)


def _returned_text(returned: FunctionResponse) -> str:
    try:
        return memory_text(returned.response or {})
    except TypeError as error:
        msg = f"the result of the tool {returned.name!r} is not JSON: {error}"
        raise UsageError(msg) from error


def _entry_of(found: Recalled) -> MemoryEntry:
    said = found.content
    if isinstance(said, Message):
        kept: object = said.metadata.get(KIND)
        author = kept["author"] if isinstance(kept, Mapping) and "author" in kept else said.role
    else:
        author = said.trust
    role = "user" if author == "user" else "model"
    return MemoryEntry(
        content=Content(role=role, parts=[Part(text=found.text)]),
        id=entry_id(said),
        author=str(author),
        timestamp=found.time.isoformat(),
    )
