"""Every record survives the way through JSON; a writer that drops a field is found."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import partial
from typing import Any, get_args

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from recollect.observability.health import Health, StoreHealth, TaskError, TaskHealth, TaskState
from recollect.recall.context import (
    Context,
    ContextEntry,
    LeftOut,
    LeftOutReason,
    ProfileDocument,
)
from recollect.recall.query import Where
from recollect.recall.recall_packing import DropReason
from recollect.recall.results import DroppedEntry, Recall, Recalled
from recollect.records import (
    Evidence,
    Formation,
    FormationStatus,
    Lane,
    Memory,
    MemoryState,
    Message,
    NewMessage,
    PutMemory,
    Revision,
    Role,
    Thread,
    Trust,
)
from recollect.server.api_keys import Key
from recollect.server.schemas.administration import KeyResponse
from recollect.server.schemas.contexts import (
    ContextEntryResponse,
    ContextResponse,
    LeftOutResponse,
    ProfileDocumentResponse,
)
from recollect.server.schemas.erase_requests import TargetInput
from recollect.server.schemas.memories import MemoryResponse, RevisionResponse
from recollect.server.schemas.recall import RecallResponse
from recollect.server.schemas.recall_requests import RecallRequest
from recollect.server.schemas.requests import MemoryRequest, MessageInput
from recollect.server.schemas.threads import LaneResponse, MessageResponse
from recollect.stores.plans.audit import AuditEntry, AuditVerdict
from recollect.stores.plans.erase_targets import (
    EraseMemory,
    EraseMessages,
    EraseReceipt,
    EraseScope,
    EraseSource,
    EraseTarget,
    EraseThread,
)
from recollect.wire import (
    administration,
    elements,
    erasures,
    memories,
    recalls,
    threads,
)

# Not shrunk: a mutant is to be found, and not to be explained.
HELD = settings(max_examples=30, deadline=None, database=None, phases=[Phase.generate])
NOW = datetime(2026, 5, 1, tzinfo=UTC)
# What a store holds: no lone surrogates, and times from year 1 to 9999, in microseconds.
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
id_ = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6)
number = st.integers(0, 2**53)
time = st.one_of(
    st.datetimes(timezones=st.just(UTC)),
    st.sampled_from([datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]),
)
json_value = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | text,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(text, inner, max_size=2),
    max_leaves=4,
)
json_object = st.dictionaries(text, json_value, max_size=3)
maybe = partial(st.one_of, st.none())
tuples = st.lists(number, max_size=2).map(tuple)
scope = st.lists(id_, max_size=3).map(tuple)
evidence = st.dictionaries(
    text,
    st.lists(
        st.builds(Evidence, thread=id_, message=id_, quote=maybe(text), group=number), max_size=2
    ).map(tuple),
    max_size=2,
)
trust, state = st.sampled_from(get_args(Trust)), st.sampled_from(get_args(MemoryState))
blocks = maybe(st.lists(json_value, max_size=2))
role = st.sampled_from(get_args(Role))

message = st.builds(
    Message, thread=id_, id=id_, position=number, role=role, text=text, name=maybe(id_), time=time,
    session=id_, source=maybe(id_), content=blocks, metadata=json_object,
)  # fmt: skip
memory = st.builds(
    Memory, scope=scope, type=id_, key=id_, value=json_object, text=text, version=number,
    created_at=time, updated_at=time, valid_from=maybe(time), valid_until=maybe(time),
    expires_at=maybe(time), evidence=evidence, trust=trust, state=state, said_at=maybe(time),
)  # fmt: skip
revision = st.builds(
    Revision, version=number, value=json_object, text=text, valid_from=maybe(time),
    valid_until=maybe(time), evidence=evidence, trust=trust, state=state, cause=text,
    believed_from=time, believed_until=maybe(time),
)  # fmt: skip
lane = st.builds(Lane, formed=number, attempts=number, not_before=maybe(time), again=tuples)
thread = st.builds(
    Thread, scope=scope, id=id_, created_at=time, last=number, count=number, formed=number,
    due=maybe(time), attempts=number, state=st.sampled_from(["active", "paused"]), again=tuples,
    settings=json_object, lanes=st.dictionaries(id_, lane, max_size=2),
)  # fmt: skip
formation = st.builds(
    Formation, scope=scope, id=id_, status=st.sampled_from(get_args(FormationStatus)), at=time,
    fence=number, calls=number, tokens=number, watermarks=st.dictionaries(id_, number, max_size=2),
    failed=st.dictionaries(id_, tuples, max_size=2), receipt=json_object,
)  # fmt: skip
receipt = st.builds(
    EraseReceipt, id=id_, messages=number, memories=number, revised=number, erased_at=time,
    clean_at=maybe(time),
)  # fmt: skip
preview = st.builds(
    erasures.ErasePreview, messages=number, memories=number, revised=number, confirm=text,
    expires_at=time,
)  # fmt: skip
audit_entry = st.builds(
    AuditEntry, n=number, at=time, actor=maybe(id_), actor_key=text, action=id_,
    subject=st.dictionaries(id_, st.lists(id_, max_size=2), max_size=2),
    names=st.lists(text, max_size=2).map(tuple), digest=text, previous=text, hash=text,
)  # fmt: skip
verdict = st.builds(
    AuditVerdict, rows=number, head=maybe(text), broken_at=maybe(number), reason=maybe(text)
)
task = st.builds(
    TaskHealth, name=id_, state=st.sampled_from(get_args(TaskState)), last_success=maybe(time),
    last_error=maybe(st.builds(TaskError, type=id_, text=text, at=time)), failures=number,
    retry_at=maybe(time), backlog=maybe(number),
)  # fmt: skip
how = st.builds(
    Health, at=time, store=st.builds(StoreHealth, state=id_, latency_ms=maybe(st.just(1.5))),
    tasks=st.lists(task, max_size=2).map(tuple),
)  # fmt: skip
finite = st.floats(-1e9, 1e9)
recalled = st.builds(
    Recalled, scope=scope, content=message | memory, score=finite,
    signals=st.dictionaries(st.sampled_from(["dense", "entry", "other"]), finite),
    relevance=st.floats(0, 1),
)  # fmt: skip
dropped = st.builds(DroppedEntry, entry=recalled, reason=st.sampled_from(get_args(DropReason)))
recall = st.builds(
    Recall, query=text, entries=st.lists(recalled, max_size=2).map(tuple),
    dropped=st.lists(dropped, max_size=1).map(tuple), tokens=number, searched=number,
    eligible=number, embedder=maybe(id_), outside=maybe(id_),
    replica=maybe(number), behind_s=st.floats(0, 1_000),
)  # fmt: skip
context = st.builds(
    Context, query=text, history=st.lists(message, max_size=1).map(tuple), instructions=text,
    summary=text,
    profile=st.lists(st.builds(
        ProfileDocument, handle=id_, memory=memory, fields=st.lists(text, max_size=2).map(tuple),
        is_excerpt=st.booleans(), tokens=number,
    ), max_size=1).map(tuple),
    entries=st.lists(st.builds(
        ContextEntry, handle=id_, entry=recalled, text=text, is_excerpt=st.booleans(),
        tokens=number,
    ), max_size=2).map(tuple),
    left_out=st.lists(st.builds(
        LeftOut, entry=recalled, reason=st.sampled_from(get_args(LeftOutReason)),
    ), max_size=1).map(tuple),
    examples=st.lists(text, max_size=2).map(tuple), tokens=number, budget_tokens=number,
    tokens_by_part=st.dictionaries(id_, number, max_size=2), awaits_vectors=st.booleans(),
    text=text, replica=maybe(number), behind_s=st.floats(0, 1_000),
)  # fmt: skip
answerer = st.builds(
    administration.Answerer, prefix=scope, name=text, permissions=st.frozensets(id_, max_size=2),
    version=id_, model=maybe(id_), embedder=id_, limits=json_object,
)  # fmt: skip


@dataclass(frozen=True)
class Way:
    """The way of a record through JSON: how it is made, written and read."""

    records: st.SearchStrategy[Any]
    write: Callable[[Any], Mapping[str, Any]]
    read: Callable[[Mapping[str, Any]], Any]


WAYS = {
    "message": Way(message, threads.message_to_json, threads.message_from_json),
    "memory": Way(memory, memories.memory_to_json, memories.memory_from_json),
    "revision": Way(revision, memories.revision_to_json, memories.revision_from_json),
    "evidence": Way(evidence, elements.evidence_to_json, elements.evidence_from_json),
    "thread": Way(thread, lambda each: threads.thread_to_json(each, NOW), threads.thread_from_json),
    "pending": Way(
        thread, lambda each: threads.pending_to_json(each, NOW), threads.thread_from_json
    ),
    "lane": Way(lane, threads.lane_to_json, threads.lane_from_json),
    "formation": Way(formation, threads.formation_to_json, threads.formation_from_json),
    "receipt": Way(receipt, erasures.receipt_to_json, erasures.receipt_from_json),
    "preview": Way(preview, erasures.preview_to_json, erasures.preview_from_json),
    "audit entry": Way(
        audit_entry, administration.audit_entry_to_json, administration.audit_entry_from_json
    ),
    "verdict": Way(verdict, administration.verdict_to_json, administration.verdict_from_json),
    "health": Way(how, administration.health_to_json, administration.health_from_json),
    "task": Way(task, administration.task_to_json, administration.task_from_json),
    "recall": Way(recall, recalls.recall_to_json, recalls.recall_from_json),
    "recalled": Way(recalled, recalls.recalled_to_json, recalls.recalled_from_json),
    "context": Way(context, recalls.context_to_json, recalls.context_from_json),
    "answerer": Way(answerer, administration.answerer_to_json, administration.answerer_from_json),
}


def check_way(way: Way) -> None:
    """Send records there and back, as text, and compare them field by field."""

    @HELD
    @given(way.records)
    def check(record: Any) -> None:
        told = json.loads(json.dumps(way.write(record), ensure_ascii=False, allow_nan=False))
        found = (
            way.read({**told, "new in a later version": 1})
            if way.read is not (elements.evidence_from_json)
            else way.read(told)
        )

        assert found == record
        for each in fields(record) if hasattr(record, "__dataclass_fields__") else ():
            # Some fields of a record are left out of its comparison.
            assert getattr(found, each.name) == getattr(record, each.name)

    check()


@pytest.mark.parametrize("name", WAYS)
def test_a_record_survives_the_way_through_json(name: str) -> None:
    """Written, sent as text and read, it is the same in every field."""
    check_way(WAYS[name])


@pytest.mark.parametrize(
    ("name", "field"),
    [
        *[("message", each.name) for each in fields(Message)],
        *[("memory", each.name) for each in fields(Memory)],
        *[("thread", each.name) for each in fields(Thread)],
        ("revision", "cause"),
        ("formation", "receipt"),
        ("receipt", "clean_at"),
        ("audit entry", "names"),
        ("health", "tasks"),
        ("recall", "dropped"),
        *[("context", each.name) for each in fields(Context)],
    ],
)
def test_a_dropped_field_is_found(name: str, field: str) -> None:
    """The mutant: a writer that leaves one field out, or empties it."""
    way = WAYS[name]
    without = Way(
        way.records,
        lambda each: {at: value for at, value in way.write(each).items() if at != field},
        way.read,
    )
    emptied = Way(way.records, lambda each: {**way.write(each), field: None}, way.read)

    with pytest.raises((AssertionError, KeyError)):
        check_way(without)
    with pytest.raises((AssertionError, KeyError, TypeError, AttributeError)):
        check_way(emptied)


SCHEMAS: Mapping[str, Any] = {
    "message": MessageResponse,
    "memory": MemoryResponse,
    "revision": RevisionResponse,
    "lane": LaneResponse,
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_documented_schema_names_the_fields_that_are_written(name: str) -> None:
    """No more and no fewer."""

    @settings(max_examples=1, database=None)
    @given(WAYS[name].records)
    def check(record: Any) -> None:
        assert WAYS[name].write(record).keys() == SCHEMAS[name].model_fields.keys()

    check()


@HELD
@given(recall)
def test_an_answer_that_is_not_whole_has_rounded_figures_and_no_contents(answer: Recall) -> None:
    """So it is short; what it has is named as in the whole one."""
    short: dict[str, Any] = recalls.recall_to_json(answer, whole=False)

    for entry, found in zip(short["entries"], answer.entries, strict=True):
        assert "content" not in entry
        assert round(found.score, 4) == entry["score"]
    assert short.keys() == RecallResponse.model_fields.keys() - {
        "ms",
        "rendered",
        "rendered_tokens",
    }


@HELD
@given(context)
def test_a_context_names_what_it_leaves_out_and_no_more_unless_it_is_whole(found: Context) -> None:
    """There may be hundreds of long messages; what is shown has its text in either form."""
    short: dict[str, Any] = recalls.context_to_json(found, whole=False)
    whole: dict[str, Any] = recalls.context_to_json(found)

    assert short.keys() == whole.keys() == ContextResponse.model_fields.keys() - {"ms"}
    for schema, part, beside in (
        (ContextEntryResponse, "entries", set[str]()),
        (ProfileDocumentResponse, "profile", {"memory"}),
        (LeftOutResponse, "left_out", {"entry"}),
    ):
        for one, other in zip(short[part], whole[part], strict=True):
            assert one.keys() == schema.model_fields.keys() - beside
            assert other.keys() == schema.model_fields.keys()
    assert all("content" not in each["entry"] for each in short["entries"])


def test_a_key_is_written_without_its_secret() -> None:
    """Neither the secret nor its digest is told."""
    key = Key(
        id="0123456789abcdef", name="chat", scope=("users",), permissions=frozenset({"read"}),
        created_at=NOW, expires_at=None, last_used_at=None, digest="d1", old_digest="d2",
    )  # fmt: skip

    written = key.public_fields(list)

    assert written.keys() == KeyResponse.model_fields.keys()
    assert "d1" not in json.dumps(written)
    assert "d2" not in json.dumps(written)


@HELD
@given(
    st.builds(
        NewMessage, role=role, text=text, id=maybe(id_), name=maybe(id_), time=maybe(time),
        session=maybe(id_), source=maybe(id_), content=blocks, metadata=json_object,
    )
)  # fmt: skip
def test_a_message_that_is_sent_is_the_one_that_is_taken(sent: NewMessage) -> None:
    """What the client writes the service reads as the same record."""
    told = json.dumps(threads.new_message_to_json(sent))

    assert sent == MessageInput.model_validate_json(told).new_message()


@HELD
@given(
    st.builds(
        PutMemory, type=id_, key=id_, value=json_object, text=maybe(text), expected=st.none(),
        valid_from=maybe(time), valid_until=maybe(time), expires_at=maybe(time), evidence=evidence,
    )
)  # fmt: skip
def test_a_memory_that_is_sent_is_the_one_that_is_taken(sent: PutMemory) -> None:
    """What the client writes the service reads as the same record."""
    told = json.dumps(memories.put_to_json(sent))

    assert [sent] == MemoryRequest.model_validate_json(told).writes(sent.type, sent.key, None)


@HELD
@given(
    st.builds(
        Where, messages=st.booleans(), types=maybe(st.lists(id_, max_size=2)),
        threads=maybe(st.lists(id_, max_size=2)), filter=maybe(json_object), since=maybe(time),
        until=maybe(time), valid_at=time | st.sampled_from(["now", "ever"]), known_at=maybe(time),
    )
)  # fmt: skip
def test_what_may_be_recalled_is_the_same_for_client_and_service(where: Where) -> None:
    """What the client writes the service reads as the same restriction."""
    told = json.dumps({"query": "x", **recalls.where_to_json(where)})

    assert where == RecallRequest.model_validate_json(told).where()


@pytest.mark.parametrize(
    "target",
    [
        EraseScope(below=True),
        EraseScope(),
        EraseThread(thread="t/1"),
        EraseMessages(thread="t", messages=("m",)),
        EraseMemory(type="Note", key="ключ"),
        EraseSource(source="crm"),
    ],
)
def test_a_target_that_is_sent_is_the_one_that_is_taken(target: EraseTarget) -> None:
    """What the client writes the service reads as the same target."""
    told = json.dumps(erasures.target_to_json(target))

    assert target == TargetInput.model_validate_json(told).target()
