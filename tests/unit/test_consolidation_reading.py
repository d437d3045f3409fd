"""What a model may do with groups: strictly read, and checked against the memories both ways."""

import json
from datetime import UTC, datetime

import pytest

from recollect.errors import UsageError
from recollect.formation.consolidation import (
    Batch,
    ConsolidationAnswer,
    batches_of,
    language_of,
    read_calls,
    request_of,
)
from recollect.formation.consolidation_texts import CONSOLIDATION_TEXTS
from recollect.formation.derived_memories import ActiveMemories, changes_in, planned, sources_of
from recollect.formation.prompt_texts import PromptLanguage
from recollect.formation.similarity_groups import Group, address_of
from recollect.formation.types import NOTE
from recollect.ports import ModelAnswer, ToolCall
from recollect.records import EndMemory, Evidence, Json, Memory, PutMemory, Trust
from recollect.stores.remainder import MEMORY_THREAD, named_version, version_name
from recollect.text.token_estimate import estimated_tokens
from tests.harness.sample_contents import sample_memory

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def note(key: str, content: str, *, trust: Trust = "user", until: datetime | None = None) -> Memory:
    """Return a note in force."""
    return sample_memory(
        at=NOON,
        scope=("ada",),
        key=key,
        value={"context": "talk", "content": content},
        text=f"context: talk; content: {content}",
        version=3,
        expires_at=until,
        evidence={"/content": [Evidence(thread="t", message=f"m-{key}", quote=content)]},
        trust=trust,
    )


TEA, CUPS = note("tea", "drinks tea in Bergen"), note("cups", "drinks 3 cups of tea")
DOGS = note("dog", "may get a dog"), note("dogs", "perhaps gets a dog soon")
BATCH = Batch(
    type=NOTE,
    groups=(Group(type="Note", memories=(TEA, CUPS)), Group(type="Note", memories=DOGS)),
)


def asked(name: str, ids: Json, value: Json, **more: Json) -> ToolCall:
    """Return a call."""
    return ToolCall(name=name, arguments={"ids": ids, "value": value, **more}, id="c1")


def said(content: str) -> dict[str, Json]:
    """Return the value of a note."""
    return {"context": "talk", "content": content}


def read(*calls: ToolCall) -> ConsolidationAnswer:
    """Return what an answer with some calls comes to."""
    return read_calls(ModelAnswer(calls=calls), BATCH)


WHOLE = said("drinks 3 cups of tea in Bergen")


def test_a_request_shows_groups_and_nothing_else() -> None:
    request = request_of(BATCH)

    lines = request.turns[0].text.splitlines()
    assert ["Group 1:", "Group 2:"] == [each for each in lines if each.startswith("Group")]
    shown = [json.loads(each) for each in lines if each.startswith("[")]
    assert [["m1", dict(TEA.value)], ["m2", dict(CUPS.value)]] == shown[:2]
    assert {"merge_memories", "derive_memory", "leave_as_is"} == {t.name for t in request.tools}
    assert request.must_call


@pytest.mark.parametrize(
    ("notes", "language", "group"),
    [
        (("在上海住了三年", "2021年搬到上海"), "zh", "第1组："),
        (("在臺北住了三年", "2021年搬到臺北"), "zh-hant", "第1組："),
        (("lives in Bergen", "moved to Bergen in 2021"), "en", "Group 1:"),
    ],
)
def test_memories_are_asked_about_in_their_language(
    notes: tuple[str, str], language: PromptLanguage, group: str
) -> None:
    """The texts, the tools and the schema; the ids of tools and fields stay."""
    memories = tuple(note(str(at), each) for at, each in enumerate(notes))
    batch = Batch(type=NOTE, groups=(Group(type="Note", memories=memories),))

    assert language == language_of(batch)
    request = request_of(batch, CONSOLIDATION_TEXTS[language])
    assert group == request.turns[0].text.splitlines()[0]
    assert "merge_memories" in request.system
    assert "{" not in request.system.replace('{"tool"', "").replace("{…}", "")
    assert notes[0] in request.turns[0].text
    assert {"merge_memories", "derive_memory", "leave_as_is"} == {t.name for t in request.tools}


@pytest.mark.parametrize(
    "text",
    [
        '[{"tool": "merge_memories", "ids": ["m1", "m2"], "value": VALUE}]',
        (
            '```json\n[{"name": "merge_memories", '
            '"arguments": {"ids": ["m1", "m2"], "value": VALUE}}]\n```'
        ),
        'Merged: {"merge_memories": {"ids": ["m1", "m2"], "value": VALUE}}',
        (
            '[{"tool": "merge_memories", "ids": ["m1", "m2"], "context": "talk", '
            '"content": "drinks 3 cups of tea in Bergen"}]'
        ),
    ],
    ids=["a list", "in a fence", "by name", "flat"],
)
def test_calls_written_as_json_are_read(text: str) -> None:
    """As a model without tools writes them, or one that leaves a level out."""
    written = text.replace("VALUE", json.dumps(WHOLE))

    found = read_calls(ModelAnswer(text=written), BATCH)

    assert ((), True) == (found.faults, found.is_whole)
    assert WHOLE == found.combinations[0].value


@pytest.mark.parametrize("text", ["[]", "leave_as_is", '[{"tool": "leave_as_is"}]'])
def test_that_nothing_is_to_be_done_may_be_written(text: str) -> None:
    found = read_calls(ModelAnswer(text=text), BATCH)

    assert ((), (), True) == (found.faults, found.combinations, found.is_whole)


def test_a_merge_that_says_it_all_is_kept() -> None:
    found = read(asked("merge_memories", ["m2", "m1"], WHOLE))

    (made,) = found.combinations
    assert ((), True, True) == (found.faults, found.is_whole, made.is_merge)
    assert (TEA, CUPS) == made.sources


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (asked("merge_memories", ["m1", "m2"], said("drinks tea in Bergen")), "the number 3"),
        (asked("merge_memories", ["m1", "m2"], said("drinks 3 cups of tea")), "Bergen"),
        (asked("derive_memory", ["m1", "m2"], said("drinks 3 cups in Oslo")), "Oslo"),
        (asked("derive_memory", ["m1", "m2"], said("drinks 5 cups of tea")), "the number 5"),
        (asked("merge_memories", ["m3", "m4"], said("gets a dog")), "doubt"),
        (asked("merge_memories", ["m1"], WHOLE), "at least two"),
        (asked("merge_memories", ["m1", "m1"], WHOLE), "at least two"),
        (asked("merge_memories", ["m1", "m3"], WHOLE), "one group"),
        (asked("merge_memories", ["m1", "m9"], WHOLE), "'ids' must list"),
        (asked("merge_memories", "m1", WHOLE), "'ids' must list"),
        (asked("merge_memories", ["m1", 2], WHOLE), "'ids' must list"),
        (asked("merge_memories", ["m1", "m2"], "tea"), "JSON object"),
        (asked("merge_memories", ["m1", "m2"], {"context": "tea"}), "content"),
        (asked("merge_memories", ["m1", "m2"], WHOLE, why="so"), "alone"),
        (asked("delete_memory", ["m1", "m2"], WHOLE), "no tool"),
        (ToolCall(name="merge_memories", arguments="{", id="c1"), "cannot be read"),
        (ToolCall(name="merge_memories", arguments="[]", id="c1"), "must be an object"),
        (ToolCall(name="merge_memories", arguments='{"ids":[],"ids":[]}', id="c1"), "twice"),
    ],
)
def test_what_is_wrong_is_said(call: ToolCall, told: str) -> None:
    """A call that cannot stand is refused with the reason; it takes no other one along."""
    good = asked("merge_memories", ["m3", "m4"], said("may get a dog soon"))

    found = read(call, good)

    (fault,) = found.faults
    assert told in fault.reason
    assert 1 == len(found.combinations)


def test_a_memory_is_merged_once() -> None:
    merge = asked("merge_memories", ["m1", "m2"], WHOLE)
    again = asked("derive_memory", ["m1", "m2"], said("drinks tea"))

    found = read(merge, again, merge)

    assert 1 == len(found.combinations)
    assert ["another call" in each.reason for each in found.faults] == [True]


@pytest.mark.parametrize("stopped", ["refusal", "length"])
def test_an_answer_that_is_cut_off_is_not_whole(stopped: str) -> None:
    cut = ModelAnswer(stopped=stopped)  # type: ignore[arg-type]

    found = read_calls(cut, BATCH)

    assert (False, 1) == (found.is_whole, len(found.faults))
    assert not read_calls(ModelAnswer(text="nothing to do"), BATCH).is_whole


def test_groups_share_requests_while_there_is_room() -> None:
    long = [
        Group(type="Note", memories=(note(f"a{n}", "tea " * 1_500), note(f"b{n}", "tea")))
        for n in range(3)
    ]
    short = [
        Group(type="Note", memories=(note(f"c{n}", "tea"), note("d", "tea"))) for n in range(9)
    ]

    assert [1, 1, 1] == [len(b.groups) for b in batches_of(NOTE, long, {}, estimated_tokens)]
    assert [9] == [len(b.groups) for b in batches_of(NOTE, short, {}, estimated_tokens)]


def standing(*memories: Memory, derived: tuple[Memory, ...] = ()) -> ActiveMemories:
    """Return memories as they stand."""
    return ActiveMemories(
        now=NOON,
        new_key=lambda: "new",
        in_force={address_of(each): each for each in (*memories, *derived)},
        derived=derived,
    )


def test_a_merged_memory_names_all_it_rests_on() -> None:
    """It has the trust of the least trusted, expires as they do, and cites versions."""
    tea = note("tea", "drinks tea in Bergen", until=NOON.replace(year=2027))
    told = note("cups", "drinks 3 cups of tea", trust="external", until=NOON.replace(year=2027))
    group = Group(type="Note", memories=(tea, told))
    batch = Batch(type=NOTE, groups=(group,))
    call = asked("merge_memories", ["m1", "m2"], WHOLE)
    reading = read_calls(ModelAnswer(calls=(call,)), batch)

    (change,) = planned(reading.combinations, standing(tea, told))

    put, *ends = change.writes
    assert isinstance(put, PutMemory)
    assert ("external", told.expires_at, 0) == (put.trust, put.expires_at, put.expected)
    named = [(each.thread, each.message) for each in put.evidence[""]]
    assert named == [
        (MEMORY_THREAD, "Note/tea@3"),
        (MEMORY_THREAD, "Note/cups@3"),
        ("t", "m-tea"),
        ("t", "m-cups"),
    ]
    assert [("tea", 3), ("cups", 3)] == [
        (each.key, each.expected) for each in ends if isinstance(each, EndMemory)
    ]


@pytest.mark.parametrize("until", [None, NOON.replace(year=2028)])
@pytest.mark.parametrize(
    ("name", "action"), [("merge_memories", "refused"), ("derive_memory", "derived")]
)
def test_nothing_is_replaced_by_what_expires_before_it(
    until: datetime | None, name: str, action: str
) -> None:
    """A merge with what soon expires would take the other memory along; a derivation does not."""
    tea = note("tea", "drinks tea in Bergen", until=until)
    told = note("cups", "drinks 3 cups of tea", until=NOON.replace(year=2027))
    batch = Batch(type=NOTE, groups=(Group(type="Note", memories=(tea, told)),))
    reading = read_calls(ModelAnswer(calls=(asked(name, ["m1", "m2"], WHOLE),)), batch)

    (change,) = planned(reading.combinations, standing(tea, told))

    assert action == change.action
    assert () == change.ended


def test_what_is_remembered_already_is_not_made() -> None:
    reading = read(asked("derive_memory", ["m1", "m2"], said("Drinks tea in Bergen.")))

    (change,) = planned(reading.combinations, standing(TEA, CUPS))

    assert ("refused", ()) == (change.action, change.writes)
    assert "already" in change.reason


def test_a_later_derivation_outdoes_an_earlier_one() -> None:
    """Deriving of the same memories and more ends what was derived before."""
    older = Memory(
        **{
            name: getattr(note("older", "drinks tea often"), name)
            for name in Memory.__dataclass_fields__
            if name != "evidence"
        },
        evidence={"": [Evidence(thread=MEMORY_THREAD, message="Note/tea@3")]},
    )
    reading = read(asked("derive_memory", ["m1", "m2"], said("drinks tea in Bergen often")))

    (change,) = planned(reading.combinations, standing(TEA, CUPS, derived=(older,)))

    assert (("Note", "older"),) == change.ended
    assert ("Note", "older", 3) in change.sources
    assert [("Note", "tea", 3)] == sources_of(older)


@pytest.mark.parametrize("key", ["tea", "a/b", "a@2", "~", "茶", "1"])
@pytest.mark.parametrize("type_", ["Note", "a/b", "a~1b", "~0"])
def test_a_version_has_one_name(type_: str, key: str) -> None:
    assert (type_, key, 12) == named_version(version_name(type_, key, 12))


@pytest.mark.parametrize("name", ["", "m1", "Note", "Note/tea", "Note/tea@", "/tea@1", "Note/@1"])
def test_other_names_name_no_version(name: str) -> None:
    assert named_version(name) is None


def test_a_receipt_of_something_else_tells_no_changes() -> None:
    with pytest.raises(UsageError, match="erased"):
        changes_in({})
