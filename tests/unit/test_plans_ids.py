"""What can name something, and what a store accepts besides: settled once for all backends."""

from typing import cast

import pytest

from recollect.errors import LimitError, UsageError
from recollect.records import Scope
from recollect.stores import validation as validate
from recollect.stores.digests import keyed_digest, request_digest, text_hash
from recollect.stores.plans.idempotency import idempotency_of
from recollect.stores.validation import ID_CHARACTERS_MAX, check_id, check_scope
from recollect.testing.truth_tables import LEGAL_IDS
from tests.harness.truth_tables import ILLEGAL_IDS


@pytest.mark.parametrize("id_", LEGAL_IDS, ids=ascii)
def test_what_can_name(id_: str) -> None:
    """A legal id is kept exactly as it is."""
    assert id_ == check_id(id_, "an id")
    assert (id_, id_) == check_scope((id_, id_))


@pytest.mark.parametrize("id_", ILLEGAL_IDS, ids=ascii)
def test_what_cannot_name(id_: str) -> None:
    """What cannot name anything is refused, and the error says what it was to name."""
    with pytest.raises(UsageError, match="a thread id"):
        check_id(id_, "a thread id")
    with pytest.raises(UsageError):
        check_scope(("users", id_))


def test_no_two_ids_are_one() -> None:
    """The legal ids of the truth table differ, as they are and in every digest of them."""
    requests = {request_digest("thread", id_) for id_ in LEGAL_IDS}
    names = {keyed_digest(b"key", "thread", id_) for id_ in LEGAL_IDS}

    assert len(LEGAL_IDS) == len(set(LEGAL_IDS)) == len(requests) == len(names)


def test_the_limit_counts_characters() -> None:
    """The longest id has ``ID_CHARACTERS_MAX`` characters, however many bytes they are."""
    with pytest.raises(LimitError) as caught:
        check_id("🙂" * (ID_CHARACTERS_MAX + 1), "an id")

    assert (257, 256) == (caught.value.actual, caught.value.limit)


def test_a_number_is_its_digits() -> None:
    """An integer segment is its decimal text; a truth value is no integer."""
    assert ("users", "42", "-1") == check_scope(cast("Scope", ("users", 42, -1)))
    with pytest.raises(UsageError):
        check_scope(cast("Scope", ("users", True)))


@pytest.mark.parametrize("bad", [("users", True), ("users", 1.0), ("users", ["1"]), ("users", "")])
def test_a_good_scope_makes_none_like_it_good(bad: object) -> None:
    """What was found good before is known again; nothing that only resembles it is."""
    for _ in range(2):
        assert ("users", "1") == check_scope(cast("Scope", ("users", 1)))
        assert ("users", "True") == check_scope(("users", "True"))
        assert ("users", "1.0") == check_scope(("users", "1.0"))

        with pytest.raises(UsageError):
            check_scope(cast("Scope", bad))


def test_few_good_scopes_are_known_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is a long one: whoever asks for many must not fill the memory with them."""
    known: dict[Scope, Scope] = {}
    monkeypatch.setattr(validate, "_KNOWN_SCOPES", known)
    monkeypatch.setattr(validate, "KNOWN_SCOPES_MAX", 10)
    for number in range(100):
        check_scope(("users", str(number)))
        check_scope(("users", str(number), "x" * ID_CHARACTERS_MAX))

    assert 0 < len(known) <= 10
    assert max(len(segment) for scope in known for segment in scope) < ID_CHARACTERS_MAX


def test_a_list_of_segments_is_a_scope() -> None:
    """A scope that comes from JSON as a list is a tuple afterwards."""
    assert ("users", "ada") == check_scope(["users", "ada"])


@pytest.mark.parametrize("several", [[("a", "b"), ("c",)], (["a"], ["b"])])
def test_several_scopes_are_no_scope(several: object) -> None:
    """The error says so, not that a segment is none: recall takes several, context takes one."""
    with pytest.raises(UsageError, match=r"one scope is asked for.*not a list of 2"):
        check_scope(cast("Scope", several))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a", "bc"), ("ab", "c")),
        (("a",), ("a", "")),
        ((["a", "b"],), (["a"], "b")),
        ((1,), ("1",)),
        ((None,), ("null",)),
        (({"a": 1},), ({"a": "1"},)),
    ],
)
def test_requests_are_told_apart(one: tuple[object, ...], other: tuple[object, ...]) -> None:
    """Requests of other parts have other digests, however they would look side by side."""
    assert request_digest(*one) != request_digest(*other)


def test_a_digest_tells_nothing_without_the_key() -> None:
    """The digest of a name depends on the store's own key."""
    assert keyed_digest(b"one", "ada") != keyed_digest(b"other", "ada")


def test_a_text_is_known_by_its_hash() -> None:
    """Texts that differ in form alone have different hashes: their vectors may differ."""
    assert text_hash("é") != text_hash("e\u0301")
    assert text_hash("same") == text_hash("same")


def test_a_key_is_known_by_digests() -> None:
    """A key has a digest of itself in its scope, and one of the whole request."""
    one, other = (idempotency_of(b"secret", "k", ("ada",), "append", part) for part in ("a", "b"))
    elsewhere = idempotency_of(b"secret", "k", ("bob",), "append", "a")
    there = idempotency_of(b"other", "k", ("ada",), "append", "a")

    assert ("k", one.key, True) == (other.name, other.key, one.digest != other.digest)
    assert 3 == len({one.key, elsewhere.key, there.key})
    assert 3 == len({one.digest, elsewhere.digest, there.digest})
