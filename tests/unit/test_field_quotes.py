"""The words below a field are those that it still says."""

from dataclasses import replace

import pytest

import recollect
from recollect.records import Evidence, EvidenceMap, JsonObject, Memory, Revision
from recollect.server.routes.overview import field_quotes

SCOPE = "mira"
PORTO = Evidence(thread="talk", message="m1", quote="in Porto, Rua das Amoreiras 18")
BRAGA = Evidence(thread="talk", message="m2", quote="we moved to Braga")
HOME = {"subject": "Mira", "predicate": "lives in", "object": "Porto, Rua das Amoreiras 18"}


def written(*versions: tuple[JsonObject, EvidenceMap]) -> tuple[Memory, list[Revision]]:
    """Write the versions of a memory, and return it with them."""
    with recollect.open_sync("memory:", embedder="none") as memory:
        for name in ("m1", "m2"):
            said = recollect.NewMessage(role="user", text=f"{PORTO.quote}, {BRAGA.quote}", id=name)
            memory.append(SCOPE, "talk", [said])
        for value, evidence in versions:
            last = memory.put(SCOPE, "Fact", "home", value, evidence=evidence)
        return last, list(memory.history(SCOPE, "Fact", "home"))


def test_a_field_has_the_first_words_that_it_or_the_whole_rests_on() -> None:
    memory, revisions = written((HOME, {"/object": [PORTO, BRAGA]}))
    assert {"/object": PORTO.quote} == field_quotes(memory, revisions)

    memory, revisions = written((HOME, {"": [BRAGA]}))
    assert set(field_quotes(memory, revisions).values()) == {BRAGA.quote}


def test_what_a_person_wrote_over_has_none_though_words_of_it_are_left() -> None:
    """The store keeps the evidence of `Rua`, so that an erase reaches it."""
    braga = HOME | {"object": "Braga, Rua do Souto 7"}
    memory, revisions = written((HOME, {"": [PORTO]}), (braga, {}))

    assert "/object" in memory.evidence, "else this shows nothing"
    assert "/object" not in field_quotes(memory, revisions)
    assert field_quotes(memory, revisions)["/subject"] == PORTO.quote


def test_words_that_came_with_a_change_stand_for_it() -> None:
    braga = HOME | {"object": "Braga"}
    memory, revisions = written((HOME, {"": [PORTO]}), (braga, {"/object": [BRAGA]}))

    assert field_quotes(memory, revisions)["/object"] == BRAGA.quote


def test_later_versions_do_not_change_what_was_said_of_an_earlier_one() -> None:
    braga = HOME | {"object": "Braga, Rua do Souto 7"}
    _, revisions = written((HOME, {"": [PORTO]}), (braga, {}))
    first, _ = written((HOME, {"": [PORTO]}))

    assert field_quotes(first, revisions)["/object"] == PORTO.quote


@pytest.mark.parametrize("quote", [None, ""])
def test_evidence_without_words_quotes_nothing(quote: str | None) -> None:
    memory, revisions = written((HOME, {"": [replace(PORTO, quote=quote)]}))
    assert {} == field_quotes(memory, revisions)
