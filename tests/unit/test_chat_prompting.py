"""What a chatbot's model is shown of documents and of what recall found."""

from datetime import UTC, datetime

from recollect.chat.chat_prompt import known_within
from recollect.recall.results import Recalled
from recollect.records import Memory, Scope
from recollect.text.token_estimate import estimated_tokens

ADA: Scope = ("users", "ada")
TEAM: Scope = ("users",)


def profile(scope: Scope, key: str = "User") -> Memory:
    """Return a profile of whom a scope and a key name; all of them live in Oslo."""
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    return Memory(
        scope=scope,
        type="User",
        key=key,
        value={"home": "Oslo"},
        text="home: Oslo",
        version=1,
        created_at=moment,
        updated_at=moment,
        valid_from=None,
        valid_until=None,
        expires_at=None,
        evidence={},
        trust="user",
        state="active",
    )


def recalled(memory: Memory) -> Recalled:
    """Return *memory* as recall finds it."""
    return Recalled(scope=memory.scope, content=memory, score=1, signals={})


def test_equal_profiles_of_others_are_shown_beside_a_document() -> None:
    """Only the very document that is shown is left out: not one of another scope or key."""
    others = [profile(TEAM), profile(ADA, "ines")]
    found = [recalled(each) for each in (profile(ADA), *others)]

    known = known_within(
        [profile(ADA)], found, limit=9, budget_tokens=1_000, count=estimated_tokens
    )

    assert [profile(ADA)] == [each.content for each in known.documents]
    assert others == [each.content for each in known.entries]
