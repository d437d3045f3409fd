"""Request bodies of recall and of a prompt's context."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from recollect.recall.context_defaults import CONTEXT_TOKENS
from recollect.recall.query import QUERY_CHARACTERS_MAX, Where
from recollect.records import Role
from recollect.server.schemas.elements import with_examples
from recollect.server.schemas.requests import Id, Object, RequestModel, Time
from recollect.stores.validation import PAGE_ROWS_MAX

BUDGET_TOKENS_MAX: Final = 1_000_000
STALE_S_CEILING: Final = 86_400
RECENT_MAX: Final = PAGE_ROWS_MAX


class EntryFilters(RequestModel):
    """Filters of the entries that a search may return."""

    valid_at: Time | Literal["now", "ever"] = Field(
        default="now",
        description="Only memories that are true at this time; `ever` for all of them.",
    )
    known_at: Time | None = Field(
        default=None, description="As it was believed at this time; this may be slow."
    )
    asked_at: Time | None = Field(
        default=None,
        description='The present moment of the query, for "last week" and for validity.',
    )
    since: Time | None = Field(
        default=None,
        description="Only messages said, and memories true, at or after this time.",
    )
    until: Time | None = Field(
        default=None,
        description="Only messages said, and memories that became true, before this time.",
    )
    threads: list[Id] | None = Field(
        default=None, max_length=1_000, description="Only messages of these threads."
    )
    types: list[Id] | None = Field(
        default=None,
        max_length=100,
        description="Only memories of these types; [] for no memories.",
    )
    roles: list[Role] | None = Field(
        default=None, description="Only messages of these roles; [] for no messages."
    )
    filter: Object | None = Field(
        default=None,
        description="Conditions on a message's metadata or a memory's value.",
    )
    below: bool = Field(
        default=False,
        description="Include the scopes below; this needs the permission `below`.",
    )
    stale_s_max: float | None = Field(
        default=None,
        ge=0,
        le=STALE_S_CEILING,
        description="Let a read replica answer that lags by at most so many seconds. What was "
        "erased is never found.",
    )
    whole: bool = Field(
        default=False,
        description="Return each entry with its complete record, and exact numbers.",
    )

    def where(self) -> Where:
        """Return the library's filters."""
        return Where(
            messages=self.roles != [],
            types=self.types,
            threads=self.threads,
            since=self.since,
            until=self.until,
            filter=self.filter,
            valid_at=self.valid_at,
            known_at=self.known_at,
        )


class RecallRequest(EntryFilters):
    """A query, with its limits and filters."""

    model_config = with_examples(
        {"query": "Where does Ada live?", "limit": 5, "budget_tokens": 500}
    )

    query: str = Field(
        min_length=1, max_length=QUERY_CHARACTERS_MAX, description="The question, or other words."
    )
    limit: int = Field(default=10, ge=1, le=200, description="Maximum number of entries.")
    budget_tokens: int | None = Field(
        default=None,
        ge=1,
        le=BUDGET_TOKENS_MAX,
        description="Maximum number of tokens of the entries' texts together.",
    )
    min_score: float = Field(
        default=0, ge=0, le=1, description="Only entries of at least this relevance."
    )
    thread: Id | None = Field(
        default=None, description="The current thread, whose messages are left out."
    )
    skip_question: bool = Field(
        default=False,
        description="Drop messages that only ask the query itself, as the one by which it was "
        "asked in a chat does, and those that tell nothing, such as the user's other questions "
        "about what is remembered: a question is no answer.",
    )
    render: bool = Field(
        default=True, description="Whether to return `rendered`, the entries as text for a prompt."
    )


class ContextRequest(EntryFilters):
    """The query of a prompt's next turn, its token budget, and filters of the entries shown."""

    model_config = with_examples(
        {"query": "Where does Ada live?", "thread": "holidays", "budget_tokens": 1000}
    )

    query: str = Field(
        description=f"The next turn's text; only its first {QUERY_CHARACTERS_MAX:,} characters "
        "count. An empty one gets the profile."
    )
    thread: Id | None = Field(
        default=None, description="The thread of the prompt; it need not exist."
    )
    recent: (
        Annotated[int, Field(ge=0, le=RECENT_MAX)]
        | Annotated[list[str], Field(max_length=RECENT_MAX)]
        | None
    ) = Field(
        default=None,
        description="What the prompt shows beside `history`: a number of the newest messages of "
        "`thread`, or the texts themselves.",
    )
    history_tokens: int = Field(
        default=0,
        ge=0,
        le=BUDGET_TOKENS_MAX,
        description="Return the newest messages of `thread`, within this budget, as `history`.",
    )
    budget_tokens: int = Field(
        default=CONTEXT_TOKENS,
        ge=1,
        le=BUDGET_TOKENS_MAX,
        description="Maximum number of tokens of `text`.",
    )
    min_score: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Only entries of at least this relevance. By default none are returned if no "
        "entry is more relevant to the query than to small talk.",
    )
    profile: bool | Annotated[list[Id], Field(max_length=100)] = Field(
        default=True, description="Whether to show the active documents, or of which types."
    )
    instructions: str = Field(default="", description="A text that counts towards the budget.")
    examples: list[str] = Field(
        default_factory=list,
        max_length=1_000,
        description="Texts of examples, which count towards the budget.",
    )
    roles: list[Role] | None = Field(default=None, max_length=0, description="[] for no messages.")
