"""Check the promises of a memory by reading everything it returns."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from benchmarks.combinations.world import FORMED, SCOPES, TALLY, Past, World
from recollect.recall.query import Where
from recollect.records import Evidence, Memory, Message, Revision, Scope
from recollect.stores.remainder import MEMORY_THREAD, named_version
from tests.harness.carried_words import FILLER

_WORD: Final = re.compile(r"[a-z]{6}ktok")
_ALL: Final = 500
Address: TypeAlias = tuple[str, str]


@dataclass
class Reading:
    """Everything that a memory returns about a scope."""

    scope: Scope
    messages: dict[str, list[Message]] = field(default_factory=dict)
    memories: list[Memory] = field(default_factory=list)
    histories: dict[Address, tuple[Revision, ...]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    """Everything that was read, as text, by the read that returned it."""


async def read_scope(world: World, scope: Scope) -> Reading:
    """Read a scope through every read of the API."""
    memory, reading = world.memory, Reading(scope)
    for thread in (await memory.threads(scope)).rows:
        page = await memory.messages(scope, thread.id, limit=_ALL)
        reading.messages[thread.id] = list(page.rows)
    reading.memories = list((await memory.memories(scope, limit=_ALL)).rows)
    for each in reading.memories:
        found = await memory.history(scope, each.type, each.key)
        reading.histories[each.type, each.key] = found
        reading.texts[f"history of {each.type}/{each.key}"] = repr(found)
    reading.texts["memories"] = repr(reading.memories)
    reading.texts["messages"] = repr(reading.messages)
    reading.texts["export"] = json.dumps([each async for each in memory.export(scope)])
    reading.texts["formations"] = repr((await memory.formations(scope, limit=_ALL)).rows)
    reading.texts["audit"] = repr((await memory.audit(scope, limit=_ALL)).rows)
    reading.texts["receipts"] = repr(await memory.receipts())
    query = " ".join([FILLER, *sorted(world.expected.gone())[:40]])
    for where in (Where(), Where(valid_at="ever", known_at=world.clock.now())):
        found_by = await memory.recall(scope, query, limit=100, where=where)
        reading.texts["recall"] = repr([each.content for each in found_by.entries])
    return reading


async def check_kept(world: World, reading: Reading) -> list[str]:
    """Check that no acknowledged write is lost or duplicated."""
    scope, broken = reading.scope, []
    for thread in {*reading.messages, *(m.thread for m in world.expected.messages(scope))}:
        wanted = [(each.name, each.text) for each in world.expected.messages(scope, thread)]
        found = [(each.id, each.text) for each in reading.messages.get(thread, [])]
        if found != wanted:
            broken.append(f"messages of {scope} {thread}: {found} and not {wanted}")
    tallies = {
        each.key: each.versions for each in world.expected.tallies(scope) if each.state == "living"
    }
    said = {
        key: [str(each.value["says"]) for each in versions]
        for (type_, key), versions in reading.histories.items()
        if type_ == TALLY
    }
    if said != tallies:
        broken.append(f"tallies of {scope}: {said} and not {tallies}")
    standing = {each for each in reading.histories if each[0] in FORMED}
    lost = world.standing.get(scope, set()) - standing
    if lost and scope not in world.loses:
        broken.append(f"formed memories of {scope} are lost: {sorted(lost)}")
    world.standing[scope] = standing
    return broken


async def check_gone(world: World, reading: Reading) -> list[str]:
    """Check that no erased data remains or returned."""
    return _said_in(reading, world.expected.gone(), "erased")


async def check_apart(world: World, reading: Reading) -> list[str]:
    """Check that no scope returns data of another one."""
    return _said_in(reading, world.expected.of_others(reading.scope), "of another scope")


def _said_in(reading: Reading, words: set[str], what: str) -> list[str]:
    return [
        f"{word}, {what}, in {name} of {reading.scope}"
        for name, text in reading.texts.items()
        for word in sorted(words.intersection(_WORD.findall(text)))
    ]


async def check_past(world: World, reading: Reading) -> list[str]:
    """Check that past versions and earlier recalls read the same as before."""
    scope = reading.scope
    now_past = _past_of(reading)
    before = world.past.get(scope, {})
    broken = [
        f"version {number} of {address} in {scope}: {now_past[address][number]} and not {was}"
        for address, versions in before.items()
        if address in now_past
        for number, was in versions.items()
        if now_past[address].get(number, was) != was
    ]
    if scope not in world.loses:
        broken += [
            f"version {number} of {address} in {scope} is lost"
            for address, versions in before.items()
            for number in versions
            if number not in now_past.get(address, {})
        ]
    world.past[scope] = now_past
    return broken + await _as_of(world, reading)


def _past_of(reading: Reading) -> Past:
    """Return the past versions, by address and creation time of the memory."""
    return {
        (f"{type_}/{key}", str(versions[0].believed_from)): {
            each.version: repr((each.value, each.believed_from, each.believed_until))
            for each in versions[:-1]
        }
        for (type_, key), versions in reading.histories.items()
        if versions
    }


async def _as_of(world: World, reading: Reading) -> list[str]:
    """Repeat an earlier recall as of its time, and compare the results."""
    scope = reading.scope
    asked = world.asked_as_of.get(scope)
    if asked is None:
        moment = world.clock.now()
        world.clock.advance(1)
        world.asked_as_of[scope] = moment, await _recalled(world, scope, moment)
        return []
    moment, before = asked
    found = await _recalled(world, scope, moment)
    # A memory that was deleted and written again is another one.
    there = {(e.type, e.key) for e in reading.memories if e.created_at <= moment}
    changed = {
        address
        for address in {*before, *found}
        if address in there and address in before and before[address] != found.get(address)
    }
    return [
        f"{address} of {scope} as of {moment} is {found.get(address)} and not {before[address]}"
        for address in sorted(changed)
    ]


async def _recalled(world: World, scope: Scope, moment: object) -> dict[Address, str]:
    where = Where(messages=False, valid_at="ever", known_at=moment)  # type: ignore[arg-type]
    found = await world.memory.recall(scope, FILLER, limit=300, where=where)
    return {
        (each.content.type, each.content.key): repr((each.content.value, each.content.version))
        for each in found.entries
        if isinstance(each.content, Memory)
    }


async def check_founded(world: World, reading: Reading) -> list[str]:
    """Check that each word of an active formed value is in its evidence or was written by hand."""
    typed = world.expected.typed(reading.scope)
    broken = []
    for memory in reading.memories:
        # An import drops evidence in messages that are removed, and lowers the trust to external.
        if memory.type in FORMED and memory.state == "active" and memory.trust != "external":
            words = set(_WORD.findall(json.dumps(memory.value)))
            lacking = words - typed - _evident(world, reading, _all_evidence(memory))
            broken += [
                f"{each} of {memory.type}/{memory.key} in {reading.scope} has no evidence"
                for each in sorted(lacking)
            ]
    return broken


def _all_evidence(memory: Memory) -> list[Evidence]:
    return [each for found in memory.evidence.values() for each in found]


def _evident(world: World, reading: Reading, evidence: list[Evidence]) -> set[str]:
    """Return the words of the cited messages, following cited memories."""
    words, seen, waiting = set[str](), set[tuple[str, str]](), list(evidence)
    while waiting:
        each = waiting.pop()
        if (each.thread, each.message) in seen:
            continue
        seen.add((each.thread, each.message))
        if each.thread == MEMORY_THREAD:
            waiting += _evidence_of(reading, each.message)
        elif (carrier := world.expected.carriers.get(each.message)) and carrier.state != "erased":
            words |= world.expected.words.said[each.message]
    return words


def _evidence_of(reading: Reading, name: str) -> Iterator[Evidence]:
    named = named_version(name)
    if named is None:
        return
    for version in reading.histories.get(named[:2], ()):
        if version.version == named[2]:
            for found in version.evidence.values():
                yield from found


Check: TypeAlias = Callable[[World, Reading], Awaitable[list[str]]]
PROMISES: Final[dict[str, Check]] = {
    "kept": check_kept,
    "gone": check_gone,
    "apart": check_apart,
    "past": check_past,
    "founded": check_founded,
}


def tested_by(world: World, readings: list[Reading]) -> set[str]:
    """Return the promises that had data to test them."""
    found = set()
    if any(each.messages or each.memories for each in readings):
        found.add("kept")
    if world.expected.gone():
        found.add("gone")
    if any(each.texts["memories"] != "[]" or each.messages for each in readings) and any(
        world.expected.of_others(scope) for scope in SCOPES
    ):
        found.add("apart")
    if any(versions for past in world.past.values() for versions in past.values()):
        found.add("past")
    if any(m.type in FORMED and m.state == "active" for each in readings for m in each.memories):
        found.add("founded")
    return found
