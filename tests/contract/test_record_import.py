"""Records from outside, on every backend: as direct writes make them, and not erased here."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeAlias, cast

import pytest

from recollect.errors import ConflictError, UsageError
from recollect.formation.scope_types import types_below, types_in_force
from recollect.formation.types.builtin import NOTE
from recollect.lifecycle import cited_evidence, record_import
from recollect.lifecycle.cited_evidence import NOWHERE
from recollect.lifecycle.erased_records import Doomed, Erasures, ScopeErasures, note_erased
from recollect.lifecycle.record_import import RecordImportCounts, RecordNote
from recollect.memory.facade import Recollect
from recollect.memory.record_imports import open_record_import
from recollect.records import Attachment, Evidence, Json, JsonObject, NewMessage, PutMemory, Scope
from recollect.side_records import (
    ATTACHMENT,
    ATTACHMENT_PART,
    FORGOTTEN,
    LIFETIME,
    SCOPE_SETTINGS,
    SERVICE_KEY,
    STATE,
    PutSideRecord,
)
from recollect.stores.contract.base import Store
from recollect.stores.in_process.store import InProcessStore
from recollect.stores.plans import erasure
from recollect.stores.plans.erase_targets import (
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseSource,
    EraseTarget,
    EraseThread,
)
from recollect.testing import FrozenClock, SeededIds

Notes: TypeAlias = list[RecordNote]

ADA: Scope = ("acme", "ada")
CANARY = "Xanadu"
NOWHERE_IN_TALK = {"/content": (Evidence(thread="talk", message=NOWHERE),)}
TRIP: JsonObject = {
    "name": "Trip",
    "description": "A journey.",
    "update_mode": "insert",
    "parameters": {"type": "object", "properties": {"to": {"type": "string"}}},
}


def resting(key: str, *messages: str, content: str = CANARY) -> PutMemory:
    """Return a note whose content rests on messages of the talk."""
    cited = [Evidence(thread="talk", message=each, quote="q") for each in messages]
    value = {"context": "always", "content": content}
    return PutMemory(type="Note", key=key, value=value, evidence={"/content": cited})


async def filled(memory: Recollect, clock: FrozenClock) -> list[JsonObject]:
    """Keep what is to be erased, and what is not; return all of it as records, a minute later."""
    texts = {"m1": f"my secret is {CANARY}", "m2": "I like tea", "m3": f"{CANARY} again"}
    said = [
        NewMessage(role="user", id=id_, text=text, source="mail" if id_ == "m3" else None)
        for id_, text in texts.items()
    ]
    await memory.append(ADA, "talk", said)
    await memory.append(ADA, "other", [NewMessage(role="user", id="m1", text="I stay")])
    await memory.apply(ADA, [resting("secret", "m1"), resting("tea", "m2", content="tea")])
    await memory.apply(ADA, [resting("both", "m1", "m2", content="both")])
    records = [each async for each in memory.export(ADA)]
    clock.advance(60)
    return records


async def keys(memory: Recollect) -> list[str]:
    """Return the keys of Ada's memories."""
    return [each.key for each in (await memory.memories(ADA)).rows]


async def words(memory: Recollect) -> str:
    """Return all that the memory holds of Ada's, as text."""
    return repr([each async for each in memory.export(ADA)])


TARGETS: dict[str, EraseTarget] = {
    "thread": EraseThread(thread="talk"),
    "messages": EraseMessages(thread="talk", messages=["m1", "m3"]),
    "memory": EraseMemory(type="Note", key="secret"),
    "version": EraseMemory(type="Note", key="secret", expected=1),
    "source": EraseSource(source="mail"),
    "scope": EraseScope(),
}


async def test_the_change_of_an_erased_memory_is_not_imported(
    memory: Recollect, clock: FrozenClock
) -> None:
    """Alone or with it, for it repeats what the memory said; that of another one comes."""
    changes = [resting(f"{key}~1~a", content=f"{CANARY} or not") for key in ("secret", "other")]
    waiting = [replace(each, state="quarantined") for each in changes]
    await memory.apply(ADA, [resting("secret"), *waiting])
    records = [each async for each in memory.export(ADA)]
    clock.advance(60)
    await memory.erase(ADA, EraseMemory(type="Note", key="secret"))

    await memory.import_records([each for each in records if each.get("key") != "secret"])
    await memory.import_records(records)

    assert ["other~1~a"] == [each.key for each in (await memory.memories(ADA)).rows]


@pytest.mark.parametrize("name", TARGETS)
async def test_what_was_erased_here_is_not_imported(
    memory: Recollect, clock: FrozenClock, name: str
) -> None:
    """It is left out and told, with what rests on it; importing again changes nothing."""
    records = await filled(memory, clock)
    await memory.erase(ADA, TARGETS[name])
    before, notes = await words(memory), Notes()

    new = [
        await memory.import_records(records, told=notes.append),
        await memory.import_records(records),
    ]

    assert [0, 0] == new
    assert before == await words(memory)
    assert "erased" in {each.what for each in notes}


@pytest.mark.parametrize("name", TARGETS)
async def test_a_clock_that_is_set_back_brings_nothing_back(
    memory: Recollect, clock: FrozenClock, name: str
) -> None:
    """An erase is no older than what it takes, whatever the clock says, or one of another host."""
    records = await filled(memory, clock)
    clock.advance(-3600)
    await memory.erase(ADA, TARGETS[name])
    clock.advance(7200)
    before = await words(memory)

    assert 0 == await memory.import_records(records)
    assert before == await words(memory)


@pytest.mark.parametrize("name", TARGETS)
async def test_who_says_so_brings_it_back(memory: Recollect, clock: FrozenClock, name: str) -> None:
    """By name, everything comes back as it was; an audit says that it did."""
    records = await filled(memory, clock)
    await memory.erase(ADA, TARGETS[name])
    if name != "scope":  # what an erase rewrote stands in the way of what it was
        await memory.erase(ADA, EraseScope())
    acting = memory.acting("operator")

    await acting.import_records(records, restore_erased=True)

    assert repr(records) == await words(memory)
    page = await memory.store.audit(ADA)
    assert "restore erased" == page.rows[0].action


async def test_what_came_after_an_erase_is_imported(memory: Recollect, clock: FrozenClock) -> None:
    """A thread, a scope and a memory begun anew under an erased name are others."""
    await filled(memory, clock)
    for target in TARGETS.values():
        await memory.erase(ADA, target)
    clock.advance(60)
    records = await filled(memory, clock)
    await memory.store.vacate(ADA)

    assert len(records) == await memory.import_records(records)
    assert repr(records) == await words(memory)


async def test_a_message_that_is_said_anew_is_kept(memory: Recollect, clock: FrozenClock) -> None:
    """Of a thread that was erased, and begun again, an old export brings only the new part."""
    old = await filled(memory, clock)
    await memory.erase(ADA, EraseThread(thread="talk"))
    clock.advance(60)
    await memory.append(ADA, "talk", [NewMessage(role="user", id="m9", text="hello again")])
    new = [each async for each in memory.export(ADA)]
    await memory.store.vacate(ADA)
    merged = [*(each for each in old if each["kind"] == "message"), *new]

    await memory.import_records(merged)

    left = (await memory.messages(ADA, "talk")).rows
    assert ["hello again"] == [each.text for each in left]
    assert CANARY not in await words(memory)


async def test_words_of_a_forgotten_memory_stay_away(memory: Recollect, clock: FrozenClock) -> None:
    """Under another key as well; what was written later in the same words is another memory."""
    records = await filled(memory, clock)
    await memory.erase(ADA, EraseMemory(type="Note", key="secret"))
    twin = next(each for each in records if each.get("key") == "secret")
    later = {**twin, "key": "later", "created_at": memory.store.now() + 1}
    later["updated_at"] = later["created_at"]

    await memory.import_records([{**twin, "key": "twin"}, later])

    notes = (await memory.memories(ADA, type_="Note")).rows
    assert ["both", "later", "tea"] == [each.key for each in notes]


async def test_a_forgotten_field_of_a_document_stays_away(memory: Recollect) -> None:
    """Of a profile that was erased elsewhere the fields that are forgotten here are left out."""
    await memory.append(ADA, "talk", [NewMessage(role="user", id="m1", text=CANARY)])
    evidence = {"/home": [Evidence(thread="talk", message="m1")]}
    await memory.put(ADA, "User", "User", {"home": CANARY}, evidence=evidence)
    await memory.erase(ADA, EraseMemory(type="User", key="User"))
    await memory.put(("other",), "User", "User", {"home": CANARY, "user_name": "Ada"})
    (record,) = [each async for each in memory.export(("other",))]
    notes = Notes()
    other = {**record, "scope": list(ADA), "created_at": memory.store.now() + 1}

    await memory.import_records([other], told=notes.append)

    found = await memory.get(ADA, "User", "User")
    assert found is not None
    assert ({"user_name": "Ada"}, "user_name: Ada") == (found.value, found.text)
    assert ["changed"] == [each.what for each in notes]


async def test_formations_lose_what_they_noted(memory: Recollect, clock: FrozenClock) -> None:
    """Counts come back; what their receipts quote does not, where anything was erased."""
    records = await filled(memory, clock)
    formation: JsonObject = {
        "kind": "formation",
        "scope": list(ADA),
        "id": "f1",
        "status": "formed",
        "committed_at": memory.store.now(),
        "fence": 1,
        "calls": 1,
        "tokens": 7,
        "watermarks": {"talk": 3, "other": 1},
        "failed": {},
        "receipt": {"quote": CANARY},
    }
    await memory.erase(ADA, EraseThread(thread="talk"))
    record_import = open_record_import(memory)
    await record_import.take_each(records)

    await record_import.take_each([formation], last=True)

    (found,) = (await memory.formations(ADA)).rows
    assert (7, {}, {"other": 1}) == (found.tokens, found.receipt, found.watermarks)


async def test_what_is_erased_meanwhile_is_not_brought_back(
    memory: Recollect, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An erase between the check and the write has the batch checked anew."""
    records = await filled(memory, clock)
    await memory.remove(ADA, "talk", ["m1"])
    known = Store.known_messages
    erased = False

    async def erasing(
        store: Store, scope: Scope, messages: Sequence[tuple[str, str]]
    ) -> frozenset[tuple[str, str]]:
        nonlocal erased
        if not erased:
            erased = True
            await memory.erase(ADA, TARGETS["messages"])
        return await known(store, scope, messages)

    monkeypatch.setattr(Store, "known_messages", erasing)
    memories = [each for each in records if each["kind"] == "memory"]
    messages = [each for each in records if each["kind"] == "message"]
    fake = {**memories[0], "key": "fake", "evidence": {"": [["talk", "m9", None]]}}

    await open_record_import(memory).take([*messages, fake], last=True)

    assert erased
    assert "my secret" not in await words(memory)


# Evidence


async def test_evidence_in_nothing_is_dropped(memory: Recollect, clock: FrozenClock) -> None:
    """The memory is kept, as from a source outside; what is there, or comes with it, is founded."""
    records = await filled(memory, clock)
    secret, tea = (next(r for r in records if r.get("key") == key) for key in ("secret", "tea"))
    await memory.store.vacate(ADA)
    await memory.append(ADA, "talk", [NewMessage(role="user", id="m2", text="I like tea")])
    notes = Notes()

    new = await memory.import_records([secret, tea], told=notes.append)

    kept = {each.key: each for each in (await memory.memories(ADA)).rows}
    assert 2 == new
    assert (NOWHERE_IN_TALK, "external") == (kept["secret"].evidence, kept["secret"].trust)
    assert ("m2", "user") == (kept["tea"].evidence["/content"][0].message, kept["tea"].trust)
    assert [(0, "changed")] == [(each.place, each.what) for each in notes]


@pytest.mark.parametrize("trimmed", [["m1"], ["m1", "m2"]])
async def test_an_erased_thread_takes_what_rests_on_its_trimmed_messages(
    memory: Recollect, clock: FrozenClock, trimmed: list[str]
) -> None:
    """Also where the messages had been removed, so that an import did not find them any more."""
    await filled(memory, clock)
    await memory.remove(ADA, "talk", trimmed)
    await memory.apply(ADA, [PutMemory(type="Note", key="own", value={"content": "mine"})])
    records = [each async for each in memory.export(ADA)]
    await memory.store.vacate(ADA)
    await memory.import_records(records)
    assert ["both", "own", "secret", "tea"] == await keys(memory)

    await memory.erase(ADA, EraseThread(thread="talk"))

    assert ["own"] == await keys(memory)


async def test_what_needs_two_messages_goes_with_either(memory: Recollect) -> None:
    """Of a group the one that is nowhere does not stand for the other."""
    cited = [Evidence(thread="talk", message=each, quote="q", group=1) for each in ("gone", "m2")]
    value = {"context": "always", "content": CANARY}
    put = PutMemory(type="Note", key="n", value=value, evidence={"/content": cited})
    await memory.append(ADA, "talk", [NewMessage(role="user", id="m2", text="tea")])
    await memory.apply(ADA, [put])
    (record,) = [each async for each in memory.export(ADA) if each["kind"] == "memory"]
    await memory.import_records([{**record, "key": "copy"}])

    await memory.erase(ADA, EraseMessages(thread="talk", messages=["m2"]))

    assert [] == await keys(memory)


async def test_evidence_may_come_later(memory: Recollect, clock: FrozenClock) -> None:
    """Whatever the order of the lines: a memory waits for the messages that it names."""
    records = await filled(memory, clock)
    await memory.store.vacate(ADA)
    memories = [each for each in records if each["kind"] == "memory"]
    others = [each for each in records if each["kind"] != "memory"]
    record_import = open_record_import(memory)

    first = await record_import.take_each(memories)
    await record_import.take_each(others)
    last = await record_import.take_each([memories[each] for each in first.waiting], last=True)

    assert (3, 0, ()) == (len(first.waiting), first.stored, last.notes)
    assert repr(records) == await words(memory)


async def test_an_export_over_itself_changes_nothing(memory: Recollect, clock: FrozenClock) -> None:
    """Also where its evidence was removed meanwhile: what stands here is no less founded."""
    records = await filled(memory, clock)
    await memory.remove(ADA, "talk", ["m1", "m2"])
    before, notes = await words(memory), Notes()
    exported = [each async for each in memory.export(ADA)]

    assert 0 == await memory.import_records(exported, told=notes.append)
    assert before == await words(memory)
    assert [] == notes
    assert records != exported


async def test_past_versions_lose_the_same(memory: Recollect) -> None:
    """What a memory said before rests on nothing that is nowhere, either."""
    await memory.append(ADA, "talk", [NewMessage(role="user", id="m2", text="tea")])
    await memory.apply(ADA, [resting("n", "m1"), resting("n", "m2", content="tea")])
    records = [each async for each in memory.export(ADA) if each["kind"] == "memory"]
    await memory.apply(ADA, [resting("n", "m2")])
    await memory.erase(("nobody",), EraseScope())
    other: list[JsonObject] = [{**each, "key": "copy"} for each in records]

    await memory.import_records(other)

    past, present = await memory.history(ADA, "Note", "copy")
    assert (NOWHERE_IN_TALK, "external") == (past.evidence, past.trust)
    assert ("m2", "user") == (present.evidence["/content"][0].message, present.trust)


async def test_versions_of_memories_are_evidence(memory: Recollect) -> None:
    """Of a memory that is here, or comes; another version than there ever was is nowhere."""
    await memory.put(ADA, "Note", "n", {"context": "c", "content": "tea"})
    (record,) = [each async for each in memory.export(ADA)]
    cited = [["memory:", "Note/n@1", None], ["memory:", "Note/n@9", None]]
    derived: JsonObject = {**record, "key": "derived", "evidence": {"": cast("Json", cited)}}

    await memory.import_records([derived])

    found = await memory.get(ADA, "Note", "derived")
    assert found is not None
    assert ["Note/n@1"] == [each.message for each in found.evidence[""]]


# What is Recollect's own


async def own_records(memory: Recollect) -> dict[str, JsonObject]:
    """Return records as they are written by what they are for, by type."""
    types: JsonObject = {"types": [TRIP]}
    writes = [
        PutMemory(type="Item", key="k", value={"content": "tea"}, trust="external"),
    ]
    sides = [
        PutSideRecord(kind=SCOPE_SETTINGS, key=SCOPE_SETTINGS, value=types),
        PutSideRecord(kind=LIFETIME, key="k", value={"minutes": 5.0}),
        PutSideRecord(kind=FORGOTTEN, key="0" * 32, value={}),
    ]
    await memory.store.apply(ADA, sides)
    attached = Attachment(name="a b", data=b"x" * 700_000)
    await memory.append(
        ADA,
        "t/1",
        [NewMessage(role="user", text="hello")],
        state={"n/1": 3},
        attachments=[attached],
        writes=writes,
    )
    return {
        str(record.get("type") or record.get("side_kind")): record
        async for record in memory.export(ADA)
        if record["kind"] in {"memory", "side"}
    }


async def test_what_was_written_here_comes_back(memory: Recollect) -> None:
    """State, attachments, lifetimes, settings: an export of them is restored as it was."""
    await own_records(memory)
    records = [each async for each in memory.export(ADA)]
    await memory.store.vacate(ADA)

    assert len(records) == await memory.import_records(records)
    assert repr(records) == await words(memory)


WRONG: dict[str, tuple[str, JsonObject]] = {
    "settings that are no types": (SCOPE_SETTINGS, {"value": {"types": [{"name": "x"}]}}),
    "settings of another kind": (SCOPE_SETTINGS, {"value": {"types": [TRIP], "model": "x"}}),
    "settings of nothing": (SCOPE_SETTINGS, {"value": {"types": "x"}}),
    "settings at another key": (SCOPE_SETTINGS, {"key": "k"}),
    "settings of a thread": (SCOPE_SETTINGS, {"thread": "t/1"}),
    "settings that change a type": (
        SCOPE_SETTINGS,
        {"value": {"types": [{**TRIP, "name": "Note", "update_mode": "patch"}]}},
    ),
    "a state of no thread": (STATE, {"thread": None}),
    "a file of no thread": (ATTACHMENT, {"thread": None}),
    "a part of no thread": (ATTACHMENT_PART, {"thread": None}),
    "a state that says more": (STATE, {"value": {"more": 3}}),
    "a file of endless parts": (ATTACHMENT, {"value": {"parts": 10**9}}),
    "a part that is no base64": (ATTACHMENT_PART, {"value": {"data": "?"}}),
    "a lifetime that is none": (LIFETIME, {"value": {"minutes": -1}}),
    "a lifetime without end": (LIFETIME, {"value": {"minutes": "x"}}),
    "a digest that speaks": (FORGOTTEN, {"value": {"content": CANARY}}),
    "a digest that is none": (FORGOTTEN, {"key": CANARY}),
    "a key of the service": (LIFETIME, {"side_kind": SERVICE_KEY}),
    "a lifetime of a thread": (LIFETIME, {"thread": "t/1"}),
    "a side record of nobody's": (STATE, {"side_kind": "Other"}),
    "a side record without a key": (STATE, {"key": ""}),
    "a side record of no version": (STATE, {"version": 0}),
    "a scope of the service": (LIFETIME, {"scope": ["recollect:service", "keys"]}),
    "a scope of copies": (LIFETIME, {"scope": ["recollect", "copy"]}),
}


@pytest.mark.parametrize("name", WRONG)
async def test_what_no_direct_write_makes_is_refused(memory: Recollect, name: str) -> None:
    """Alone, with the reason; all else of the batch is stored."""
    type_, changed = WRONG[name]
    record = (await own_records(memory))[type_]
    await memory.store.vacate(ADA)
    value = {**cast("JsonObject", record["value"]), **cast("JsonObject", changed.get("value", {}))}
    wrong: JsonObject = {**record, **changed, "value": value}
    memory_record = (await own_records(memory))["Item"]
    await memory.store.vacate(ADA)
    note: JsonObject = {**memory_record, "type": "Note", "key": "n", "value": {}}

    if wrong["scope"] != note["scope"]:
        with pytest.raises(UsageError):
            await memory.import_records([wrong])
        assert await memory.store.scope_id(tuple(cast("list[str]", wrong["scope"]))) is None
        return
    taken = await open_record_import(memory).take_each([note, wrong], last=True)

    assert [(1, "refused")] == [(each.place, each.what) for each in taken.notes]
    assert ["n"] == [each.key for each in (await memory.memories(ADA)).rows]


@pytest.mark.parametrize("name", ["a", "a/b", "0001"])
@pytest.mark.parametrize("reason", ["another is here", "wrong"])
async def test_a_refused_file_leaves_no_part(memory: Recollect, name: str, reason: str) -> None:
    """Neither where another file has its name, nor where its description is wrong."""
    await memory.attach(ADA, "talk", [Attachment(name=name, data=b"x" * 1_500_000)])
    records = [each async for each in memory.export(ADA)]
    await memory.store.vacate(ADA)
    if reason == "wrong":
        records = [
            {**each, "value": {}} if each.get("side_kind") == ATTACHMENT else each
            for each in records
        ]
    else:
        await memory.attach(ADA, "talk", [Attachment(name=name, data=b"y")])
    before = await words(memory)

    taken = await open_record_import(memory).take_each(records, last=True)

    parts = [each for each in records if each["kind"] == "side"]
    assert ["refused"] * len(parts) == [each.what for each in taken.notes]
    sides = [each async for each in memory.export(ADA) if each["kind"] == "side"]
    assert 3 < len(parts)
    assert not sides if reason == "wrong" else before == await words(memory)


async def test_a_file_comes_in_several_batches(memory: Recollect) -> None:
    """Its description may be in an earlier batch than its last parts."""
    whole = Attachment(name="a", data=b"x" * 1_500_000)
    await memory.attach(ADA, "talk", [whole])
    records = [each async for each in memory.export(ADA)]
    await memory.store.vacate(ADA)
    record_import = open_record_import(memory)

    for each in records:
        assert 1 == (await record_import.take_each([each])).new

    assert whole == await memory.attachment(ADA, "talk", "a")


async def test_settings_are_refused_where_a_scope_above_has_others(memory: Recollect) -> None:
    """They change a type that holds below: as in a direct write, that needs a migration."""
    settings = (await own_records(memory))[SCOPE_SETTINGS]
    changed: JsonObject = {
        **settings,
        "scope": [*ADA, "below"],
        "value": {"types": [{**TRIP, "update_mode": "patch"}]},
    }
    with pytest.raises(UsageError, match="update_mode"):
        await memory.import_records([changed])
    assert 1 == await memory.import_records([{**settings, "scope": [*ADA, "below"]}])


async def test_a_refused_record_costs_no_other(memory: Recollect, clock: FrozenClock) -> None:
    """Each has its place in the report, however the batch was divided."""
    records = await filled(memory, clock)
    await memory.erase(ADA, TARGETS["memory"])
    nonsense: JsonObject = {"kind": "nonsense", "scope": list(ADA)}
    given = [nonsense, *records, nonsense]

    taken = await open_record_import(memory).take_each(given, last=True)

    refused = [each.place for each in taken.notes if each.what == "refused"]
    erased = [given[each.place].get("key") for each in taken.notes if each.what == "erased"]
    assert [0, len(given) - 1] == refused
    assert ["secret"] == erased
    assert (0, len(given) - 3) == (taken.new, taken.stored)


@pytest.mark.parametrize("type_", ["Note", "Item"])
@pytest.mark.parametrize(
    "evidence",
    [None, [], "x", {"": "x"}, {"": [7]}, {"": [[1, 2, 3]]}, {"": [["t", {}, None]]}, {7: []}],
    ids=repr,
)
async def test_what_is_no_evidence_is_refused(
    memory: Recollect, type_: str, evidence: Json
) -> None:
    """Whatever stands in its place, the record is refused, and nothing fails."""
    record = (await own_records(memory))["Item"]
    wrong: JsonObject = {**record, "type": type_, "key": "n", "evidence": evidence}
    past: JsonObject = {**record, "type": type_, "version": 2, "revisions": cast("Json", [wrong])}

    taken = await open_record_import(memory).take_each([wrong, past], last=True)

    assert ["refused", "refused"] == [each.what for each in taken.notes]


async def test_a_marker_with_words_is_no_marker(memory: Recollect) -> None:
    """What names a thread alone quotes nothing: a quote is of a message that must be somewhere."""
    await memory.put(ADA, "Item", "n", {"content": "x"})
    (record,) = [each async for each in memory.export(ADA)]
    quoted: JsonObject = {**record, "key": "q", "evidence": {"": [["t", "@item", "I said so"]]}}
    marked: JsonObject = {**record, "key": "m", "evidence": {"": [["t", "@item", None]]}}

    await memory.import_records([quoted, marked])

    kept = {each.key: each.evidence for each in (await memory.memories(ADA)).rows}
    tie = {"": (Evidence(thread="t", message=NOWHERE),)}
    assert (tie, "@item") == (kept["q"], kept["m"][""][0].message)


# A row that is broken already


async def broken(memory: Recollect, scope: Scope) -> None:
    """Keep settings that cannot be used, as no door lets them in."""
    put = PutSideRecord(kind=SCOPE_SETTINGS, key=SCOPE_SETTINGS, value={"types": [{}]})
    await memory.store.apply(scope, [put])


async def test_broken_settings_break_no_other_scope(
    memory: Recollect, caplog: pytest.LogCaptureFixture
) -> None:
    """Who meets them falls back on what holds above, and says so; those above and beside go on."""
    put = PutSideRecord(kind=SCOPE_SETTINGS, key=SCOPE_SETTINGS, value={"types": [TRIP]})
    await memory.store.apply(ADA[:1], [put])
    await broken(memory, ADA)
    assistants = memory._runtime.assistants

    below = await types_in_force(memory.store, (*ADA, "x"), assistants, depth=1)
    alone = await types_in_force(memory.store, (*ADA, "x"), assistants, depth=2)
    every = await types_below(memory.store, ADA[:1])

    assert ["Trip"] == [each.name for each in below] == [each.name for each in every]
    assert NOTE.name in {each.name for each in alone}
    assert {"WARNING"} == {each.levelname for each in caplog.records}
    assert "ada" not in caplog.text


# Mutants


async def _erased(memory: Recollect, clock: FrozenClock) -> None:
    await test_what_was_erased_here_is_not_imported(memory, clock, "messages")


async def _mended(memory: Recollect, _clock: FrozenClock) -> None:
    await test_what_no_direct_write_makes_is_refused(memory, "a file of endless parts")


async def _unhurried(memory: Recollect, clock: FrozenClock) -> None:
    with pytest.MonkeyPatch.context() as patch:
        await test_what_is_erased_meanwhile_is_not_brought_back(memory, clock, patch)


async def _all_taken(
    _store: Store, _scope: Scope, messages: Sequence[tuple[str, str]]
) -> frozenset[tuple[str, str]]:
    return frozenset(messages)


async def _set_back(memory: Recollect, clock: FrozenClock) -> None:
    await test_a_clock_that_is_set_back_brings_nothing_back(memory, clock, "thread")


def _untied(found: Sequence[Json], unfounded: set[tuple[str, str]]) -> list[Json]:
    cited = cast("Sequence[Sequence[str]]", found)
    return [each for each in cited if (each[0], each[1]) not in unfounded]


async def _trimmed(memory: Recollect, clock: FrozenClock) -> None:
    await test_an_erased_thread_takes_what_rests_on_its_trimmed_messages(memory, clock, ["m1"])


def _timeless(erasures: ScopeErasures, records: Sequence[JsonObject], doomed: Doomed) -> None:
    old = [{**each, "kept_at": 0, "created_at": 0} for each in records]
    note_erased(erasures, old, doomed)


Promise: TypeAlias = Callable[[Recollect, FrozenClock], Awaitable[None]]
MUTANTS: dict[str, tuple[object, str, object, Promise]] = {
    "no ledger is read": (Erasures, "at", lambda *_: 0, _erased),
    "no time is compared": (
        record_import, "note_erased", _timeless, test_what_came_after_an_erase_is_imported,
    ),
    "digests of values are not looked for": (
        record_import, "forgotten_at", None, test_words_of_a_forgotten_memory_stay_away,
    ),
    "all evidence is taken for founded": (
        Store, "known_messages", _all_taken, test_evidence_in_nothing_is_dropped,
    ),
    "the clock alone dates an erase": (erasure, "_newest_time", lambda *_: 0, _set_back),
    "evidence in nothing leaves no thread": (
        cited_evidence, "_founded", _untied, _trimmed,
    ),
    "what is our own is not checked": (record_import, "check_reserved", lambda *_: None, _mended),
    "an erase meanwhile is not noticed": (
        Store, "since", lambda store, *_: store, _unhurried,
    ),
}  # fmt: skip


async def _nothing_forgotten(*_: object) -> dict[tuple[str, str], datetime]:
    return {}


@pytest.mark.parametrize("name", MUTANTS)
async def test_an_import_that_believes_its_file_is_caught(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A promise holds for imports as they are, and not for one that breaks it."""
    place, function, wrong, promise = MUTANTS[name]
    for is_broken in (False, True):
        clock = FrozenClock()
        store = _in_memory(clock)
        async with Recollect(store, embedder="none", worker=False) as memory:
            if not is_broken:
                await promise(memory, clock)
                continue
            monkeypatch.setattr(place, function, wrong or _nothing_forgotten)
            with pytest.raises((AssertionError, ConflictError, UsageError, pytest.fail.Exception)):
                await promise(memory, clock)


def _in_memory(clock: FrozenClock) -> Store:
    return InProcessStore(clock=clock, ids=SeededIds(1))


def test_what_became_of_two_parts_is_added_up() -> None:
    """Places of the second count on from those of the first."""
    first = RecordImportCounts(1, 2, (RecordNote(0, "refused", "a"),), (1,))
    second = RecordImportCounts(3, 4, (RecordNote(1, "erased", "b"),), (0,))

    both = second.after(first, 5)

    assert (4, 6, (1, 5)) == (both.new, both.stored, both.waiting)
    assert [0, 6] == [each.place for each in both.notes]
