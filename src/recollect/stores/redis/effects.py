"""Translate an `Effect` into the commands of one commit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeVar

from recollect.stores.plans.evidence import evidence_links
from recollect.stores.plans.pending_messages import is_pending, is_waiting
from recollect.stores.redis import key_layout as keys
from recollect.stores.redis.codec import (
    FORMATIONS,
    KEYS,
    MEMORIES,
    MESSAGES,
    RECEIPTS,
    REVISIONS,
    SIDES,
    THREADS,
    encode_audited,
    encode_head,
    encode_scope,
    encode_vector,
)
from recollect.stores.redis.commands import Commands
from recollect.stores.redis.rows import RedisRows
from recollect.stores.rows import MemoryRow, RevisionRow, ScopeRow, ThreadRow
from recollect.stores.scope_paths import stored_path
from recollect.stores.unit_of_work import Effect

ItemT = TypeVar("ItemT")


def scopes_of(effect: Effect) -> set[int]:
    """Return the ids of the scopes in which an effect writes."""
    rows = (
        *(effect.threads, effect.messages, effect.memories, effect.revisions, effect.removed),
        *(effect.dropped_threads, effect.vectors, effect.raised, effect.idempotency),
        *(effect.formations, effect.sides, effect.dropped_sides),
    )
    numbered = (
        *(effect.dropped_revisions, effect.embedded, effect.old_keys, effect.compacted),
        effect.dropped_evidence,
    )
    found = {row.id for row in effect.scopes} | {*effect.dropped_scopes}
    found |= {row.scope_id for each in rows for row in each}
    return found | {each[0] for all_ in numbered for each in all_}


def commands_of(effect: Effect, rows: RedisRows) -> Commands:
    """
    Return the commands that apply *effect*, after the reads that they need.

    The commit compares the versions of these reads too, as those of the plan.
    """
    commands = Commands()
    for scope_id in sorted(scopes_of(effect)):
        # Compare the version of a scope that is written even if the plan did not read it.
        rows.reading.ask(scope_id)
        if scope_id in effect.dropped_scopes:
            _drop_scope(commands, rows, scope_id)
        else:
            _Writes(commands, rows, scope_id, effect).write()
    if effect.receipts:
        rows.reading.ask_guarded(keys.RECEIPTS_VERSION)
        pairs = [(row.id.encode(), RECEIPTS.encode(row)) for row in effect.receipts]
        commands.put_fields(keys.RECEIPTS, pairs)
    _audit(commands, rows, effect)
    return commands


def _audit(commands: Commands, rows: RedisRows, effect: Effect) -> None:
    """Append rows to their chains, and remove actors' names from chains."""
    unnamed = set(effect.unnamed)
    for chain in sorted(unnamed | {row.chain for row in effect.audit}):
        rows.reading.ask_guarded(keys.version_of_chain(chain))
    for row in effect.audit:
        commands.put_last(keys.of_chain(row.chain, "rows"), [encode_audited(row)])
        commands.put(keys.of_chain(row.chain, "head"), encode_head(row))
        if row.actor is not None and row.chain not in unnamed:
            names = keys.of_chain(row.chain, "actors")
            commands.put_fields(names, [(row.n, row.actor.encode())])
    for chain in effect.unnamed:
        commands.drop(keys.of_chain(chain, "actors"))


def _drop_scope(commands: Commands, rows: RedisRows, scope_id: int) -> None:
    row = rows.scope_by_id(scope_id)
    if row:
        threads = rows.threads(scope_id, None, 1 << 53)
        commands.take_members(keys.DUE, [keys.due_members(each)[0] for each in threads])
        waiting = [keys.waiting_member(row, each.id) for each in threads]
        commands.take_members(keys.WAITING, waiting)
        path = stored_path(row.segments)
        commands.take_fields(keys.NAMES, [path])
        commands.take_members(keys.PATHS, [path])
    for kind in keys.KINDS:
        commands.drop(keys.of_scope(scope_id, kind))


def _of(scope_id: int, given: Iterable[ItemT]) -> list[ItemT]:
    """Return those of *given*, rows or tuples that begin with a scope's id, of one scope."""
    return [
        each
        for each in given
        if (each[0] if isinstance(each, tuple) else getattr(each, "scope_id", None)) == scope_id
    ]


class _Writes:
    """Adds the commands of one effect in one scope."""

    def __init__(self, commands: Commands, rows: RedisRows, scope_id: int, effect: Effect) -> None:
        self._commands = commands
        self._rows = rows
        self._id: Final = scope_id
        self._effect = effect

    def write(self) -> None:
        scope = next((row for row in self._effect.scopes if row.id == self._id), None)
        if scope:
            self._put_scope(scope)
        self._threads(scope)
        self._remove()
        self._entries()
        self._vectors()
        self._requests()
        self._sides()
        formations = _of(self._id, self._effect.formations)
        stored = [(row.id.encode(), FORMATIONS.encode(row)) for row in formations]
        self._commands.put_fields(self._key("formations"), stored)
        places = [keys.formation_member(row) for row in formations]
        self._commands.put_members(self._key("formation_places"), places)

    def _key(self, kind: str) -> str:
        return keys.of_scope(self._id, kind)

    def _put_scope(self, scope: ScopeRow) -> None:
        self._commands.put(self._key("row"), encode_scope(scope))
        # Only a new scope, which has no version yet, is not listed by its path.
        if not self._rows.reading.versions[keys.version_of(self._id)]:
            path = stored_path(scope.segments)
            self._commands.put_fields(keys.NAMES, [(path, self._id)])
            self._commands.put_members(keys.PATHS, [path])

    def _sides(self) -> None:
        gone = [keys.side_member(row.place) for row in _of(self._id, self._effect.dropped_sides)]
        self._commands.take_fields(self._key("sides"), gone)
        self._commands.take_members(self._key("side_places"), gone)
        put = {keys.side_member(row.place): row for row in _of(self._id, self._effect.sides)}
        stored = [(member, SIDES.encode(row)) for member, row in put.items()]
        self._commands.put_fields(self._key("sides"), stored)
        self._commands.put_members(self._key("side_places"), list(put))

    def _threads(self, scope: ScopeRow | None) -> None:
        gone = {row.id: row for row in _of(self._id, self._effect.dropped_threads)}
        put = {row.id: row for row in _of(self._id, self._effect.threads) if row.id not in gone}
        if not (gone or put):
            return
        scope = scope or self._rows.scope_by_id(self._id)
        if scope is None:
            return
        for id_ in (*gone, *put):
            self._unlist(scope, self._rows.thread(self._id, id_), put.get(id_))
        self._commands.take_fields(self._key("threads"), [id_.encode() for id_ in gone])
        self._commands.take_fields(self._key("numbers"), [row.number for row in gone.values()])
        self._commands.take_members(self._key("thread_ids"), [id_.encode() for id_ in gone])
        for row in put.values():
            self._list(scope, row)

    def _unlist(self, scope: ScopeRow, old: ThreadRow | None, new: ThreadRow | None) -> None:
        """Remove a thread from the indexes in which its entry changes."""
        # Their members contain the due time or the path: a new entry does not replace the old.
        if old is None:
            return
        if old.due is not None and (new is None or _due_of(new) != old.due):
            in_store, in_scope = keys.due_members(old)
            self._commands.take_members(keys.DUE, [in_store])
            self._commands.take_members(self._key("due"), [in_scope])
        if new is None or not is_pending(new):
            self._commands.take_members(keys.WAITING, [keys.waiting_member(scope, old.id)])

    def _list(self, scope: ScopeRow, row: ThreadRow) -> None:
        id_ = row.id.encode()
        self._commands.put_fields(self._key("threads"), [(id_, THREADS.encode(row))])
        self._commands.put_fields(self._key("numbers"), [(row.number, id_)])
        self._commands.put_members(self._key("thread_ids"), [id_])
        if _due_of(row) is not None:
            in_store, in_scope = keys.due_members(row)
            self._commands.put_members(keys.DUE, [in_store])
            self._commands.put_members(self._key("due"), [in_scope])
        if is_pending(row):
            self._commands.put_members(keys.WAITING, [keys.waiting_member(scope, row.id)])

    def _remove(self) -> None:
        removed = _of(self._id, self._effect.removed)
        self._drop_entries([each.uid for each in removed])
        for each in removed:
            self._commands.put_members(self._key("tombstones"), [keys.number(each.uid)], each.seq)
        for _, uid, version in _of(self._id, self._effect.dropped_revisions):
            place = keys.number(uid) + keys.number(version)
            self._commands.take_fields(self._key("revisions"), [place])
            self._commands.take_members(self._key("versions"), [place])
        for _, until in _of(self._id, self._effect.compacted):
            self._commands.take_scores(self._key("tombstones"), until)

    def _drop_entries(self, uids: Sequence[int]) -> None:
        """Remove entries from their hashes and from every index that has a member of them."""
        if not uids:
            return
        named = [keys.number(uid) for uid in uids]
        messages = self._rows.messages_by_uid(self._id, uids)
        fields = [keys.message_field(row.thread, row.id) for row in messages]
        sources = [keys.framed(row.source) + keys.number(row.uid) for row in messages if row.source]
        memories = self._rows.memories_by_uid(self._id, uids)
        gone = [row.uid for row in memories]
        past = [place for uid in gone for place in self._versions(uid)]
        take_fields, take_members = self._commands.take_fields, self._commands.take_members
        take_fields(self._key("messages"), [row.uid for row in messages])
        take_members(self._key("places"), [keys.place_member(row) for row in messages])
        take_fields(self._key("message_ids"), fields)
        take_members(self._key("sources"), sources)
        take_fields(self._key("memories"), gone)
        take_members(self._key("addresses"), [keys.address_member(row) for row in memories])
        take_fields(self._key("revisions"), past)
        take_members(self._key("versions"), past)
        take_members(self._key("feed"), named)
        for uid in gone:
            self._unlink(uid)
        (embedders,) = self._rows.reading.ask(self._id, ("HKEYS", self._key("embedded")))
        take_fields(self._key("vectors"), [uid + each for uid in named for each in embedders])

    def _versions(self, uid: int) -> list[bytes]:
        """Return the members of a memory's past versions."""
        place = keys.number(uid)
        bounds = (b"[" + place, keys.after(place))
        (found,) = self._rows.reading.ask(self._id, ("ZRANGEBYLEX", self._key("versions"), *bounds))
        return list(found)

    def _entries(self) -> None:
        put = self._commands
        messages = _of(self._id, self._effect.messages)
        found = self._rows.messages_by_uid(self._id, [row.uid for row in messages])
        before = {row.uid: row for row in found}
        for row in messages:
            old = before.get(row.uid)
            if old and old.source and old.source != row.source:
                member = keys.framed(old.source) + keys.number(row.uid)
                put.take_members(self._key("sources"), [member])
            field = keys.message_field(row.thread, row.id)
            put.put_fields(self._key("messages"), [(row.uid, MESSAGES.encode(row))])
            put.put_members(self._key("places"), [keys.place_member(row)])
            put.put_fields(self._key("message_ids"), [(field, row.uid)])
            put.put_members(self._key("feed"), [keys.number(row.uid)], row.seq)
            if row.source:
                member = keys.framed(row.source) + keys.number(row.uid)
                put.put_members(self._key("sources"), [member])
        for memory in _of(self._id, self._effect.memories):
            put.put_fields(self._key("memories"), [(memory.uid, MEMORIES.encode(memory))])
            put.put_members(self._key("addresses"), [keys.address_member(memory)])
            put.put_members(self._key("feed"), [keys.number(memory.uid)], memory.seq)
        for past in _of(self._id, self._effect.revisions):
            place = keys.number(past.uid) + keys.number(past.version)
            put.put_fields(self._key("revisions"), [(place, REVISIONS.encode(past))])
            put.put_members(self._key("versions"), [place])
        self._link_all()

    def _link_all(self) -> None:
        memories = _of(self._id, self._effect.memories)
        revisions = _of(self._id, self._effect.revisions)
        dropped = _of(self._id, self._effect.dropped_evidence)
        if not dropped:
            self._link(memories)
            self._link(revisions)
            return
        # Evidence was erased: drop its links, and link the remaining versions by theirs.
        gone = {each.uid for each in _of(self._id, self._effect.removed)}
        touched = {row.uid for row in memories} | {row.uid for row in revisions}
        touched |= {uid for _, uid, _ in _of(self._id, self._effect.dropped_revisions)}
        for _, thread, message in dropped:
            self._drop_link(keys.link_of(thread, message))
        for uid in sorted(touched - gone):
            self._unlink(uid)
            self._link(list(self._versions_after(uid)))

    def _versions_after(self, uid: int) -> Iterator[MemoryRow | RevisionRow]:
        """Yield the current and past versions of a memory as the effect leaves them."""
        effect = self._effect
        put = [row for row in _of(self._id, effect.memories) if row.uid == uid]
        yield from put[-1:] or self._rows.memories_by_uid(self._id, [uid])
        rewritten = {row.version: row for row in _of(self._id, effect.revisions) if row.uid == uid}
        dropped = {each[2] for each in _of(self._id, effect.dropped_revisions) if each[1] == uid}
        for row in self._rows.revisions(self._id, uid):
            if row.version not in rewritten and row.version not in dropped:
                yield row
        yield from rewritten.values()

    def _link(self, rows: Iterable[MemoryRow | RevisionRow]) -> None:
        """Index memories by the messages in the evidence of *rows*, in both directions."""
        for row in rows:
            uid = keys.number(row.uid)
            links = [keys.link_of(*each) for each in sorted(evidence_links(row.evidence))]
            self._commands.put_members(self._key("links"), [link + uid for link in links])
            self._commands.put_members(self._key("rests"), [uid + link for link in links])

    def _unlink(self, uid: int) -> None:
        """Remove all links of a memory."""
        place = keys.number(uid)
        bounds = (b"[" + place, keys.after(place))
        (found,) = self._rows.reading.ask(self._id, ("ZRANGEBYLEX", self._key("rests"), *bounds))
        self._commands.take_members(self._key("rests"), found)
        # A member of "rests" is uid and link, one of "links" is link and uid.
        self._commands.take_members(self._key("links"), [each[8:] + place for each in found])

    def _drop_link(self, link: bytes) -> None:
        """Remove the links of all memories to one message."""
        bounds = (b"[" + link, keys.after(link))
        (found,) = self._rows.reading.ask(self._id, ("ZRANGEBYLEX", self._key("links"), *bounds))
        self._commands.take_members(self._key("links"), found)
        self._commands.take_members(self._key("rests"), [each[-8:] + link for each in found])

    def _vectors(self) -> None:
        put = self._commands
        for row in _of(self._id, self._effect.vectors):
            field = keys.number(row.uid) + row.embedder.encode()
            stored = encode_vector(row.text_hash, row.data)
            put.put_fields(self._key("vectors"), [(field, stored)])
        raised: defaultdict[int, list[bytes]] = defaultdict(list)
        for each in _of(self._id, self._effect.raised):
            raised[each.seq].append(keys.number(each.uid))
        for seq, members in raised.items():
            put.put_members(self._key("feed"), members, seq)
        for _, embedder, seq in _of(self._id, self._effect.embedded):
            put.put_fields(self._key("embedded"), [(embedder.encode(), seq)])

    def _requests(self) -> None:
        """Store idempotency keys, and drop old ones."""
        put, names, times = self._commands, self._key("keys"), self._key("key_times")
        for _, before in _of(self._id, self._effect.old_keys):
            end = b"(" + keys.number(before)
            (found,) = self._rows.reading.ask(self._id, ("ZRANGEBYLEX", times, "-", end))
            put.take_members(times, found)
            put.take_fields(names, [each[8:] for each in found])  # the key follows its time
        requests = _of(self._id, self._effect.idempotency)
        known = self._rows.keys_named(self._id, [row.key for row in requests])
        put.take_members(times, [keys.number(old.kept_at) + old.key.encode() for old in known])
        for row in requests:
            put.put_fields(names, [(row.key.encode(), KEYS.encode(row))])
            put.put_members(times, [keys.number(row.kept_at) + row.key.encode()])


def _due_of(row: ThreadRow) -> int | None:
    """Return the time from which a thread can be claimed, ``None`` if it cannot."""
    return row.due if row.state == "active" and is_waiting(row) else None
