"""The contract notices: each of its safety promises fails for a store that breaks it."""

import asyncio
import inspect
import json
import unicodedata
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from recollect.errors import RecollectError
from recollect.records import Scope
from recollect.side_records import PutSideRecord
from recollect.stores.change_feed import ReadMoment
from recollect.stores.digests import keyed_digest
from recollect.stores.in_process.rows import ScopeTable
from recollect.stores.in_process.store import InProcessStore, Tables
from recollect.stores.plans import changes as feed
from recollect.stores.plans import embedding_backlog as embedding
from recollect.stores.plans import erasure as erase
from recollect.stores.plans import positions, thread_edits
from recollect.stores.plans.erase_targets import EraseTarget, EraseThread
from recollect.stores.plans.evidence import evidence_messages
from recollect.stores.plans.idempotency import Idempotency, blanked_keys
from recollect.stores.plans.leases import Lease, check_lease
from recollect.stores.plans.memory_writes import plan_writes
from recollect.stores.plans.prepared_writes import PreparedWrite
from recollect.stores.plans.said_times import SaidTimes
from recollect.stores.rows import (
    MICROSECONDS,
    IdempotencyRow,
    MemoryRow,
    MessageRow,
    ReceiptRow,
    ScopeRow,
    SidePlace,
    SideRow,
    ThreadRow,
)
from recollect.stores.unit_of_work import Effect, PlannedWrite, Rows
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.contract_backlog import BacklogContract, LeaseContract
from recollect.testing.contract_base import TALK
from recollect.testing.contract_changes import FeedContract, ResetContract
from recollect.testing.contract_erase_receipts import EraseReceiptContract
from recollect.testing.contract_erasure import EraseContract, TargetContract
from recollect.testing.contract_ids import IdentityContract
from recollect.testing.contract_keys import IdempotencyContract
from recollect.testing.contract_memories import MemoryContract
from recollect.testing.contract_messages import AppendContract
from recollect.testing.contract_pages import ListingContract
from recollect.testing.contract_row_places import RowPlaceContract
from recollect.testing.contract_rows import RowOrderContract, RowRemovalContract
from recollect.testing.contract_side_records import SideRecordContract
from recollect.testing.contract_snapshot import SnapshotContract
from recollect.testing.contract_threads import ThreadContract
from recollect.testing.contract_vectors import VectorContract
from tests.harness.plan_contracts.changes import ResetPlanContract
from tests.harness.plan_contracts.derivations import DerivedContract
from tests.harness.plan_contracts.erase_receipts import EraseReceiptPlanContract
from tests.harness.plan_contracts.erasure import ErasePlanContract
from tests.harness.plan_contracts.evidence import M1, EvidenceContract
from tests.harness.plan_contracts.findings import OWN, FindingContract
from tests.harness.plan_contracts.keys import IdempotencyPlanContract
from tests.harness.plan_contracts.leases import LeasePlanContract
from tests.harness.plan_contracts.retries import RetryContract
from tests.harness.plan_contracts.said_times import JULY, SaidTimeContract
from tests.harness.plan_contracts.side_records import SideRecordPlanContract
from tests.harness.plan_contracts.side_upkeep import SideRecordUpkeepContract
from tests.harness.plan_contracts.threads import EditPlanContract

plan_erase, remove_entry = erase.plan_erase, Tables._remove_entry
write_entries = Tables._write_entries
plan_embedded, removed = embedding.plan_embedded, thread_edits._removed


def joined(tables: Tables, prefix: Scope, _after: Scope | None) -> Iterator[ScopeRow]:
    """Compare scopes as joined strings."""
    for segments in sorted(tables._by_segments):
        if "/".join(segments).startswith("/".join(prefix)):
            yield tables._scopes[tables._by_segments[segments]].row


def of_last_page(
    rows: Rows, thread: ThreadRow, before: int | None, limit: int, *, until: int
) -> list[MessageRow]:
    """Look for messages up to a moment among the last ones alone."""
    page = positions.messages_before(rows, thread, before, positions.UNTIL_PAGE)
    return [each for each in page if each.time <= until][:limit]


def any_fence(scope: ScopeRow | None, lease: Lease) -> ScopeRow:
    """Trust every claim of the present epoch."""
    return check_lease(scope and replace(scope, fence=lease.fence, lease_owner="w"), lease)


def same_epoch(
    rows: Rows, scope: Scope, target: EraseTarget, *, receipt: ReceiptRow, key: bytes
) -> PlannedWrite[ReceiptRow]:
    """Erase without a new epoch, and leave the lease."""
    planned = plan_erase(rows, scope, target, receipt=receipt, key=key)
    kept = [
        replace(row, epoch=old.epoch, lease_owner=old.lease_owner, lease_until=old.lease_until)
        for row in planned.effect.scopes
        if (old := rows.scope(row.segments))
    ]
    return PlannedWrite(replace(planned.effect, scopes=kept), planned.result)


def any_request(
    rows: Rows, scope: ScopeRow, key: Idempotency | None, _now: int
) -> list[int] | None:
    """Answer every request under a known key."""
    kept = rows.idempotency([scope.id], key.key) if key else None
    return json.loads(kept.result) if kept else None


def forgetting(
    rows: Rows, scope: Scope, target: EraseTarget, *, receipt: ReceiptRow, key: bytes
) -> PlannedWrite[ReceiptRow]:
    """Forget all keys of a scope in which something is erased."""
    planned = plan_erase(rows, scope, target, receipt=receipt, key=key)
    forgotten = [(row.id, receipt.erased_at + 1) for row in planned.effect.scopes]
    effect = replace(planned.effect, old_keys=forgotten, idempotency=())
    return PlannedWrite(effect, planned.result)


def emptied(rows: Rows, scope_id: int, erased: Collection[int], now: int) -> list[IdempotencyRow]:
    """Remove erased data from the results of requests, without marking any as gone."""
    return [replace(row, result="[]") for row in blanked_keys(rows, scope_id, erased, now)]


def unkeyed(_key: bytes, *names: object) -> bytes:
    """Compute digests without a key, which anyone can compute from a name."""
    return keyed_digest(b"", *names)


def oldest(self: SaidTimes, cited: Iterable[tuple[str, str]]) -> int | None:
    """Return when the first of the messages was said."""
    cited = list(cited)
    self.look_up(cited)
    return min((at for each in cited if (at := self._time_of(*each))), default=None)


def deaf(
    rows: Rows, scope: ScopeRow, writes: Sequence[PreparedWrite], **given: Any
) -> PlannedWrite[tuple[MemoryRow | None, ...]]:
    """Carry out writes as if their messages were not written along."""
    return plan_writes(rows, scope, writes, **{**given, "said": {}})


class Undying(SaidTimes):
    """Times as they were before an erase."""

    def newest(self, cited: Iterable[tuple[str, str]]) -> int | None:
        """Return the time of what was erased."""
        assert list(cited)
        return round(JULY.timestamp()) * MICROSECONDS


def shrinking(scope: ScopeRow, thread: ThreadRow, found: Sequence[MessageRow]) -> PlannedWrite[int]:
    """Reuse the positions of removed messages."""
    planned = removed(scope, thread, found)
    shorter = [replace(row, last=row.last - len(found)) for row in planned.effect.threads]
    return PlannedWrite(replace(planned.effect, threads=shorter), planned.result)


def any_text(
    rows: Rows,
    scope_id: int,
    embedder: str,
    *,
    done: Sequence[embedding.Embedded],
    until: int,
) -> PlannedWrite[int]:
    """Keep vectors whatever the text is now."""
    found = rows.messages_by_uid(scope_id, [uid for uid, _, _ in done])
    present = {row.uid: row.text_hash for row in found}
    forced = [(uid, present.get(uid, old), vector) for uid, old, vector in done]
    return plan_embedded(rows, scope_id, embedder, done=forced, until=until)


def sides_of_any_thread(
    tables: Tables, scope_id: int, within: Sequence[str], _after: SidePlace | None
) -> Iterator[SideRow]:
    """Yield the side records of a kind, if one is asked for, whatever thread they go with."""
    for row in tables._of(scope_id).sides.values():
        if row.place[1 : len(within)] == tuple(within[1:]):
            yield row


def first_written(tables: Tables, effect: Effect) -> None:
    """Keep every message that is there as it was written first."""
    new = [row for row in effect.messages if row.uid not in tables._scopes[row.scope_id].messages]
    write_entries(tables, replace(effect, messages=new))


def keeping_vectors(tables: Tables, table: ScopeTable, uid: int) -> None:
    """Remove an entry, and leave its vectors."""
    vectors = dict(table.vectors)
    remove_entry(tables, table, uid)
    table.vectors.update(vectors)


def folded(text: object, _what: str) -> str:
    """Fold look-alikes into one."""
    return unicodedata.normalize("NFKC", str(text)).casefold()


STALE = LeaseContract.test_one_claim_holds_a_scope
ANEW = LeasePlanContract.test_what_is_erased_is_not_formed
MUTANTS: dict[str, tuple[str, object, Callable[..., Awaitable[None]], dict[str, object]]] = {
    "scopes are joined strings": (
        "in_process.store.Tables.scopes_below", joined,
        TargetContract.test_scopes_below_are_erased, {},
    ),
    "ids are folded": (
        "contract.threads.check_id", folded, IdentityContract.test_every_id_names_a_thread, {},
    ),
    "no fence is checked": ("plans.formation.check_lease", any_fence, STALE, {}),
    "an erase leaves the names of rejected fields": (
        "plans.erasure.lost_places", lambda *_: set(),
        EraseContract.test_the_name_of_a_rejected_field_goes_with_it, {},
    ),
    "an erase leaves a field of a corrected statement": (
        "plans.memory_writes.is_statement", lambda *_: False,
        ErasePlanContract.test_a_correction_of_a_statement_goes_as_one, {"key": "home", "left": []},
    ),
    "an erase leaves the doubts that other words refute": (
        "plans.erasure.cause_after", lambda row, *_: row.cause,
        EraseContract.test_doubts_go_with_what_they_may_quote, {},
    ),
    "an erase leaves what a second reader quoted": (
        "plans.erasure._unquoted", lambda *_: [],
        ErasePlanContract.test_an_erase_takes_what_a_second_reader_quoted, {},
    ),
    "the ledger names no memory that had expired": (
        "plans.erasure.named_digests", lambda *_: b"",
        EraseReceiptContract.test_the_ledger_names_what_had_expired, {},
    ),
    "the ledger names no quote that goes with its memory": (
        "plans.erasure.named_digests", lambda *_: b"",
        EraseReceiptPlanContract.test_a_memory_is_erased_with_its_quotes, {},
    ),
    "an erase leaves the epoch": ("contract.erasure.plan_erase", same_epoch, ANEW, {"target": M1}),
    "an erase resets nobody": (
        "contract.erasure.plan_erase",
        same_epoch,
        ResetContract.test_an_erase_resets_readers,
        {"target": M1},
    ),
    "evidence is not followed": (
        "plans.erasure._revised", lambda *_: (Effect(), {}, set()),
        EraseContract.test_an_erase_takes_what_rests_on_it, {},
    ),
    "what was rejected of a memory is not followed": (
        "plans.doomed_rows._refusals_of", lambda *_: (),
        ErasePlanContract.test_a_memory_is_erased_with_what_was_rejected_of_it, {},
    ),
    "who cites a message is not known": (
        "in_process.store.Tables.citations", lambda *_: (),
        EvidenceContract.test_messages_of_which_nothing_holds_are_told, {},
    ),
    "evidence in removed messages is forgotten": (
        "in_process.store.Tables.evidence_in", lambda *_: (),
        EvidenceContract.test_the_removed_can_be_erased,
        {"target": EraseThread(thread="talk")},
    ),
    "what an agent found is the user's": (
        "plans.memory_writes.trust_with", lambda _, trust: trust,
        FindingContract.test_a_finding_is_never_a_users_word, {"evidence": OWN},
    ),
    "a record makes what an agent found the user's": (
        "plans.archive_fields.trust_with", lambda _, trust: trust,
        FindingContract.test_a_finding_is_archived_and_restored, {},
    ),
    "a finding outlives the talk it was made in": (
        "in_process.store.Tables.evidence_in", lambda *_: (),
        FindingContract.test_a_finding_goes_with_its_talk,
        {"target": EraseThread(thread="talk"), "is_talk": True},
    ),
    "a finding outlives the words it repeats": (
        "remainder.group_of", lambda _: 0,
        FindingContract.test_a_finding_goes_with_the_words_it_repeats, {},
    ),
    **{
        f"a finding names {path!a}": (
            "file_lines._path_fault", lambda _: "",
            FindingContract.test_no_path_leaves_its_project, {"path": path},
        )
        for path in ("../a", "/etc/passwd", "C:/a", "a\u202eb")
    },
    "the messages of other threads are counted": (
        "in_process.store.Tables.count_messages",
        lambda tables, scope_id, *_: len(list(tables.all_messages(scope_id))),
        RowPlaceContract.test_no_row_of_another_thread_is_read, {"name": "count of messages"},
    ),
    "removals are not fed": (
        "in_process.store.Tables.removed", lambda *_: (),
        FeedContract.test_removals_come_until_seen, {},
    ),
    "any request is repeated under a key": (
        "plans.threads.uids_under_key", any_request,
        IdempotencyContract.test_a_key_is_for_one_request, {},
    ),
    "what is derived is another request": (
        "contract.threads.request_beside", lambda *given: [repr(each) for each in given if each],
        IdempotencyPlanContract.test_what_is_derived_is_no_other_request,
        {"settings": {"assistant": "a", "types": []}, "writes": []},
    ),
    "keys are good for ever": (
        "plans.idempotency.is_old", lambda *_: False,
        IdempotencyPlanContract.test_a_key_is_good_for_a_week, {},
    ),
    "an erase forgets keys": (
        "contract.erasure.plan_erase",
        forgetting,
        RetryContract.test_an_erase_leaves_other_keys,
        {},
    ),
    "an erase forgets the keys of what it takes": (
        "contract.erasure.plan_erase",
        forgetting,
        RetryContract.test_what_was_erased_is_not_kept_again,
        {"target": M1},
    ),
    "keys are forgotten with their scope": (
        "plans.erasure.spent_keys", lambda *_: [], RetryContract.test_keys_outlive_their_scope,
        {"below": False},
    ),
    "keys outside of scopes are not looked for": (
        "plans.idempotency._places", lambda scope, _: (scope.id,),
        RetryContract.test_keys_outlive_an_emptied_scope, {},
    ),
    "what is gone is answered as before": (
        "plans.erasure.blanked_keys", emptied,
        RetryContract.test_a_request_is_gone_with_its_last_part, {},
    ),
    "what expired is written again": (
        "plans.erasure.blanked_keys", lambda *_: [], RetryContract.test_what_expired_is_gone, {},
    ),
    "digests of keys need no secret": (
        "plans.idempotency.keyed_digest", unkeyed, RetryContract.test_keys_are_kept_as_digests, {},
    ),
    "what is to be followed is dropped": (
        "plans.thread_edits.compacted",
        lambda scope: (replace(scope, compacted=scope.seq - 3), [(scope.id, scope.seq - 1)]),
        ResetPlanContract.test_a_reader_not_far_behind_goes_on, {},
    ),
    "who missed what was dropped goes on": (
        "plans.memory_writes.compacted", lambda scope: (scope, [(scope.id, scope.seq - 3)]),
        ResetContract.test_a_reader_far_behind_starts_over, {},
    ),
    "messages are stored twice": (
        "in_process.store.Tables.messages_by_id", lambda *_: (),
        AppendContract.test_the_same_message_is_stored_once, {},
    ),
    "positions are reused": (
        "plans.thread_edits._removed",
        shrinking,
        EditPlanContract.test_the_last_position_is_not_reused,
        {},
    ),
    "versions are not compared": (
        "plans.memory_writes.check_version", lambda *_: None,
        MemoryContract.test_a_refused_apply_leaves_nothing, {},
    ),
    "expiry is not seen": (
        "plans.memories.is_expired", lambda *_: False, MemoryContract.test_a_memory_is_read, {},
    ),
    "one is true": (
        "filters.equal", lambda one, other: one == other,
        ListingContract.test_filters_follow_the_truth_table, {},
    ),
    "the oldest words count": (
        "plans.said_times.SaidTimes.newest", oldest,
        SaidTimeContract.test_the_newest_words_count, {},
    ),
    "a memory is dated when it is written": (
        "plans.said_times.SaidTimes.newest", lambda *_: None,
        SaidTimeContract.test_the_feed_tells_the_time, {},
    ),
    "words of the same transaction are not heard": (
        "plans.threads.plan_writes", deaf, SaidTimeContract.test_words_and_memory_come_at_once, {},
    ),
    "erased words leave their time": (
        "plans.erasure.SaidTimes",
        Undying,
        SaidTimeContract.test_erased_words_take_their_time_along,
        {},
    ),
    "a moved message moves nothing": (
        "plans.thread_edits.redated_memories", lambda *_: [],
        SaidTimeContract.test_a_message_with_another_time_moves_the_memory, {},
    ),
    "positions are counted, not messages": (
        "plans.threads._count_after", lambda _rows, thread, position: thread.last - position,
        BacklogContract.test_waiting_messages_are_counted, {},
    ),
    "all moments are one": (
        "in_process.store.Tables.moment", ReadMoment(0, 0),
        SnapshotContract.test_a_moment_lasts_until_a_write, {},
    ),
    "what was said later is told of then": (
        "contract.threads.messages_until",
        lambda *asked, **_: positions.messages_before(*asked),
        ThreadContract.test_a_thread_is_read_up_to_a_moment, {},
    ),
    "a long thread ends with its last page": (
        "contract.threads.messages_until", of_last_page,
        ThreadContract.test_far_back_in_a_long_thread, {},
    ),
    "a listing takes messages for memories": (
        "plans.snapshot.read_summaries",
        lambda rows, name: (
            feed.read_places(rows, [name])[0],
            feed.summaries_of(rows.changed(rows.scope(name).id, 0, None)),
        ),
        SnapshotContract.test_summaries_are_those_of_the_feed, {},
    ),
    "an erased thread leaves what goes with it": (
        "in_process.store.Tables.side_records", lambda *_: iter(()),
        SideRecordUpkeepContract.test_a_thread_takes_its_own_along, {},
    ),
    "an erased thread takes what goes with others": (
        "in_process.store.Tables.side_records", sides_of_any_thread,
        SideRecordUpkeepContract.test_a_thread_takes_its_own_along, {},
    ),
    "any version of a side record is replaced": (
        "plans.side_records._check_version", lambda *_: None,
        SideRecordPlanContract.test_a_version_of_one_can_be_expected,
        {"write": PutSideRecord(kind="Setting", key="k", value={}, expected=2)},
    ),
    "what expired is shown": (
        "plans.side_records.is_side_expired", lambda *_: False,
        SideRecordContract.test_what_was_put_comes_back, {},
    ),
    "an archive distorts side records": (
        "plans.archive.side_archive_record", lambda *_: {"kind": "secret"},
        SideRecordUpkeepContract.test_they_are_archived, {},
    ),
    "an undo looks for the erases of memories alone": (
        "plans.undo_reversal._put_back_records",
        lambda undo: [each["memory"] for each in undo.changes if "memory" in each],
        SideRecordUpkeepContract.test_a_removed_one_of_an_erased_thread_stays_gone, {},
    ),
    "a quote stays that a correction contradicts": (
        "kept_evidence.as_origin", lambda found, *_: found,
        EvidenceContract.test_a_quote_goes_with_the_words_that_a_person_wrote_over, {},
    ),
    "a correction is dated by the words it replaces": (
        "plans.memory_writes.dating_messages", evidence_messages,
        EvidenceContract.test_a_quote_goes_with_the_words_that_a_person_wrote_over, {},
    ),
    "words that were corrected still hold": (
        "plans.lapsed_messages.stating_messages", evidence_messages,
        EvidenceContract.test_a_quote_goes_with_the_words_that_a_person_wrote_over, {},
    ),
    "words that are in force again hold no longer": (
        "plans.lapsed_messages._again_in_force", lambda *_: iter(()),
        EvidenceContract.test_a_message_whose_words_are_in_force_again_holds, {},
    ),
    "words of any former value hold": (
        "plans.lapsed_messages._places", lambda *_: {("/pets/-", "str", "owl")},
        EvidenceContract.test_a_message_whose_words_are_in_force_again_holds, {},
    ),
    "what was to end never ends once it comes back": (
        "plans.derived_rows.end_before_merge", lambda *_: None,
        DerivedContract.test_what_was_to_end_ends_when_it_comes_back, {"is_rewritten": False},
    ),
    "a removed entry leaves its vectors": (
        "in_process.store.Tables._remove_entry", keeping_vectors,
        RowRemovalContract.test_a_removed_entry_leaves_no_vector, {"kind": "memory"},
    ),
    "a message written again stays as it was": (
        "in_process.store.Tables._write_entries", first_written,
        RowOrderContract.test_a_row_written_again_replaces_the_former, {},
    ),
    "expired keys stay": (
        "in_process.store._drop_old", lambda *_: None,
        RowRemovalContract.test_expired_keys_are_dropped, {},
    ),
    "what a dropped version cited is cited": (
        "in_process.rows.sources_of", lambda *_: {(TALK, "m1"), (TALK, "m2"), (TALK, "m3")},
        RowRemovalContract.test_a_dropped_version_cites_nothing, {},
    ),
    "a vector is kept for any text": (
        "contract.changes.plan_embedded", any_text, VectorContract.test_vectors_are_kept, {},
    ),
}  # fmt: skip


def hold(promise: Callable[..., Awaitable[None]], arguments: dict[str, object]) -> None:
    """Run one test of the contract with a new store in memory."""

    async def held(patch: pytest.MonkeyPatch) -> None:
        clock = FrozenClock()
        async with InProcessStore(clock=clock, ids=SeededIds(1)) as store:
            given = {"store": store, "clock": clock, "monkeypatch": patch, **arguments}
            names = [name for name in inspect.signature(promise).parameters if name != "self"]
            await promise(None, **{name: given[name] for name in names})

    with pytest.MonkeyPatch.context() as patch:
        asyncio.run(held(patch))


@pytest.mark.parametrize("name", MUTANTS)
def test_a_broken_promise_is_noticed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A promise holds for the store as it is, and not for one that breaks it."""
    function, wrong, promise, arguments = MUTANTS[name]
    hold(promise, arguments)
    monkeypatch.setattr(f"recollect.stores.{function}", wrong)

    # A wrong answer, a refusal that should not come, or one that should and does not.
    with pytest.raises((AssertionError, RecollectError, pytest.fail.Exception)):
        hold(promise, arguments)
