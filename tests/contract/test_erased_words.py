"""
No content word that occurs only in erased messages is left anywhere.

In random histories, messages of unique words are formed by a model that carries words from anywhere
it can see into notes, profiles, patches, merges and consolidations; an agent saves search results
with its tools, and keeps what it found; and a person edits, corrects, rejects, approves, ends and
restores the results. Then messages, threads and sources are erased, and everything that a memory
can return is searched for the words.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Final, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.agents.tools import MemoryTools
from recollect.chat.corrections import correction_of
from recollect.errors import RecollectError
from recollect.formation import derived_memories as derivation
from recollect.formation.config import FormationSettings
from recollect.formation.types import NOTE, USER
from recollect.memory.facade import Recollect
from recollect.ports import Clock, Ids
from recollect.recall.query import Where
from recollect.records import (
    EndMemory,
    Evidence,
    EvidenceMap,
    Json,
    Memory,
    Message,
    NewMessage,
    PutMemory,
)
from recollect.stores.contract.base import Store
from recollect.stores.json_pointers import leaves, value_at
from recollect.stores.kept_evidence import Founded
from recollect.stores.locator import open_store
from recollect.stores.plans.derived_rows import row_remainder, row_sources
from recollect.stores.plans.erase_targets import (
    EraseMessages,
    EraseSource,
    EraseTarget,
    EraseThread,
)
from recollect.stores.remainder import Remainder
from recollect.stores.rows import MemoryRow, RevisionRow
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.scripted_model import ScriptedModel
from recollect.text.terms import encode_terms
from tests.harness.carried_words import FILLER, CarryingModel, SaidWords
from tests.harness.store_opener import Opener

ADA: Final = ("users", "ada")
LIFE: Final = replace(USER, name="Life", parameters={"type": "object"})
TYPES: Final = (LIFE, NOTE)
STEPS: Final = 14


class History:
    """A random history of one scope."""

    def __init__(
        self, memory: Recollect, clock: FrozenClock, words: SaidWords, model: CarryingModel
    ) -> None:
        self.memory = memory
        self._model = model
        self._clock = clock
        self._words = words
        self._chance = words.chance
        self._moments = [clock.now()]

    async def play(self, steps: int) -> list[str]:
        """Take *steps* steps, then erase; return where the first effective erase left words."""
        acts = {
            self._say: 6, self._say_again: 1, self._tell: 2, self._decide: 4,
            self._consolidate: 2, self._erase: 2, self._find: 2,
        }  # fmt: skip
        for _ in range(steps):
            self._clock.advance(60)
            self._moments.append(self._clock.now())
            (act,) = self._chance.choices(list(acts), list(acts.values()))
            if left := await self._taken(act):
                return left
        return await self._taken(self._erase)

    async def _taken(self, act: Callable[[], Awaitable[None]]) -> list[str]:
        try:
            await act()
        except RecollectError:
            return []  # it was refused, because it cannot be done to what is there
        return await self.left() if act == self._erase else []

    async def _say(self) -> None:
        words = [self._words.new() for _ in range(self._chance.randint(1, 3))]
        if (old := sorted(set[str]().union(*self._words.said.values()))) and self._is_odd(0.3):
            words.append(self._chance.choice(old))
        text = f"{FILLER}: {' and '.join(words)}"
        if self._is_odd(0.15):
            text = f"Somebody wrote to me:\n> {text}\n> {text}"
        await self._hear(text, words)
        if self._is_odd(0.8):
            await self.memory.form(ADA)

    async def _say_again(self) -> None:
        """Repeat a note, or a part of it, and form it."""
        page = await self.memory.memories(ADA, type_="Note", state="active")
        # An ended note is not offered: a model could not repeat it.
        notes = [e for e in page.rows if "content" in e.value and e.valid_until is None]
        if not notes:
            return
        value = self._chance.choice(notes).value
        words = self._words.all_in(str(value["content"]))
        if part := self._chance.choice([words, words[:1]]):
            await self._hear(f"{FILLER}: {' and '.join(part)}", part)
            self._model.again = dict(value), part[0]
            await self.memory.form(ADA)
            self._model.again = None

    async def _tell(self) -> None:
        """Let an agent save the user's words, and words from a search."""
        word = self._words.new()
        message = await self._hear(f"{FILLER}: {word}", [word])
        tools = MemoryTools(self.memory, ADA, message.thread, types=TYPES)
        seen = json.dumps(await tools.asearch_memory(FILLER))
        text = " and ".join([word, *self._words.some(seen)])
        if self._is_odd(0.5):
            await tools.asave_memory("Note", {"context": FILLER, "content": text}, [word])
        else:
            change: dict[str, Json] = {"op": "add", "path": "/plans", "value": text}
            await tools.aupdate_memory("Life/Life", [change], [word])

    async def _find(self) -> None:
        """Let an agent keep what it found out itself, in words that it heard and saw."""
        word = self._words.new()
        message = await self._hear(f"{FILLER}: {word}", [word])
        tools = MemoryTools(self.memory, ADA, message.thread, types=TYPES)
        found = await tools.asearch_memory(FILLER)
        text = " and ".join([word, *self._words.some(json.dumps(found))])
        value: dict[str, Json] = {"context": FILLER, "content": text}
        notes = [e["id"] for e in found["memories"] if e["id"].startswith("Note/")]  # type: ignore[union-attr, index, call-overload]
        if notes and self._is_odd(0.5):
            id_ = str(self._chance.choice(notes))
            await tools.aupdate_memory(id_, value=value, found_by_agent=True)
        else:
            await tools.asave_memory("Note", value, found_by_agent=True)

    async def _hear(self, text: str, words: Sequence[str]) -> Message:
        thread, source = self._chance.choice("ab"), self._chance.choice([None, "mail", "chat"])
        said = NewMessage(role="user", text=text, source=source)
        (message,) = await self.memory.append(ADA, thread, [said])
        self._words.said[message.id] = set(words)
        self._words.places[message.id] = thread, source
        return message

    async def _decide(self) -> None:
        """Apply a random review decision to a memory."""
        page = await self.memory.memories(ADA)
        found = [each for each in page.rows if each.type in {"Life", "Note"}]
        if not found:
            return
        memory = self._chance.choice(found)
        place = self._chance.choice([at for at, _ in leaves(memory.value)] or [""])
        type_, key = memory.type, memory.key
        if memory.state == "quarantined" and self._is_odd(0.5):
            await self.memory.approve(ADA, type_, key)
        elif self._is_odd(0.2):
            pointer = self._chance.choice([place, ""])
            await self.memory.reject(ADA, type_, key, pointer=pointer)
        elif self._is_odd(0.1):
            end = EndMemory(type=type_, key=key, at=self._clock.now())
            await self.memory.apply(ADA, [end])
        else:
            await self._chance.choice([self._edit, self._correct, self._restore])(memory, place)

    async def _edit(self, memory: Memory, place: str) -> None:
        """Rewrite a field by hand, with a new word."""
        typed = self._words.new()
        self._words.typed.add(typed)
        value = json.loads(json.dumps(memory.value))
        if place:
            _set(value, place, " and ".join([typed, *self._words.some(str(memory.value))]))
        await self.memory.put(ADA, memory.type, memory.key, value)

    async def _correct(self, memory: Memory, place: str) -> None:
        """Append a correction that uses words of the error."""
        word, kept = self._words.new(), self._words.some(str(memory.value))
        said = await self._hear(word, [word])
        because = Evidence(thread=said.thread, message=said.id, quote=word)
        value = " and ".join([*kept, word])
        write = correction_of(memory, place or "/about", value, because=because)
        await self.memory.apply(ADA, [write])

    async def _restore(self, memory: Memory, place: str) -> None:
        """Restore an earlier version."""
        found = self._chance.choice(await self.memory.history(ADA, memory.type, memory.key))
        write = PutMemory(
            type=memory.type, key=memory.key, value=found.value, text=found.text,
            evidence=found.evidence, trust=found.trust, state=found.state, cause="restored",
        )  # fmt: skip
        await self.memory.apply(ADA, [write])

    async def _consolidate(self) -> None:
        await self.memory.consolidate(ADA)

    async def _erase(self) -> None:
        living = sorted(set(self._words.said) - self._words.erased)
        if not living:
            return
        some = self._chance.sample(living, min(len(living), self._chance.randint(1, 2)))
        thread, source = self._words.places[some[0]]
        kind = self._chance.choice(["messages", "messages", "thread", "source"])
        target: EraseTarget = EraseMessages(thread=thread, messages=some)
        gone = {each for each in some if self._words.places[each][0] == thread}
        if kind == "thread":
            target = EraseThread(thread=thread)
            gone = {each for each in living if self._words.places[each][0] == thread}
        elif kind == "source" and source is not None:
            target = EraseSource(source=source)
            gone = {each for each in living if self._words.places[each][1] == source}
        await self.memory.erase(ADA, target)
        self._words.erased |= gone

    async def left(self) -> list[str]:
        """Return where words occur that are only in erased messages."""
        gone = sorted(self._words.gone)
        if not gone:
            return []
        told = {"export": json.dumps([each async for each in self.memory.export(ADA)])}
        page = await self.memory.memories(ADA)
        told["memories"] = repr(page.rows)
        for each in page.rows:
            name = f"history of {each.type}/{each.key}"
            told[name] = repr(await self.memory.history(ADA, each.type, each.key))
            told[f"{name}, got"] = repr(await self.memory.get(ADA, each.type, each.key))
        told["formations"] = repr((await self.memory.formations(ADA)).rows)
        told["receipts"] = repr(await self.memory.receipts())
        for moment in (None, self._chance.choice(self._moments)):
            where = Where(valid_at="ever", known_at=moment)
            found = await self.memory.recall(ADA, " ".join(gone), limit=50, where=where)
            told[f"recall as of {moment}"] = repr([each.content for each in found.entries])
        return [f"{each} in {name}" for name, text in told.items() for each in gone if each in text]

    def _is_odd(self, share: float) -> bool:
        return self._chance.random() < share


def _set(value: Json, pointer: str, text: str) -> None:
    parent, _, last = pointer.rpartition("/")
    there = value_at(value, parent)
    if isinstance(there, list):
        there[int(last)] = text
    elif isinstance(there, dict):
        there[last.replace("~1", "/").replace("~0", "~")] = text


async def played(open_empty: Opener, seed: int, folder: Path | None = None) -> list[str]:
    """Play one history and return where words are left; in *folder* no byte of them may be."""
    clock, words = FrozenClock(), SaidWords(Random(seed))  # noqa: S311 (it protects nothing)
    model = CarryingModel(words)
    formation = FormationSettings(types=TYPES)
    formation = replace(formation, limits=replace(formation.limits, context_messages=2))
    async with Recollect(
        open_empty(clock, SeededIds(seed)),
        embedder="none", model=ScriptedModel(model), formation=formation, worker=False,
    ) as memory:  # fmt: skip
        left = await History(memory, clock, words, model).play(STEPS)
        if folder is not None:
            await memory.clean()
            left += in_files(folder, words.gone)
    return left


def in_files(folder: Path, words: set[str]) -> list[str]:
    """Return the words that occur in a file, or whose stored hash does."""
    found = []
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        content = path.read_bytes()
        for each in sorted(words):
            hash_ = encode_terms(each, None)[8:16]
            if each.encode() in content or hash_ in content:
                found.append(f"{each} in {path.name}")
    return found


HISTORIES_MAX: Final = 400
"""In so many histories each mutant must be seen."""
COUNTS: Final = {"memory": 20, "sqlite": 6, "postgres": 2, "redis": 2}
MANY: Final = {"memory": 4_000, "sqlite": 1_000, "postgres": 200, "redis": 300}


def check(backend: str, open_empty: Opener, folder: Path, count: int) -> None:
    """Play so many histories on one backend."""

    @settings(settings.get_profile("sample"), max_examples=count)
    @given(seed=st.integers(0, 2**32 - 1))
    def nothing_is_left(seed: int) -> None:
        inside = folder / str(seed)
        inside.mkdir(exist_ok=True)
        for each in inside.iterdir():
            each.unlink()

        def open_here(clock: Clock, ids: Ids) -> Store:
            if backend == "sqlite":
                return open_store(str(inside / "m.db"), clock=clock, ids=ids, durability="relaxed")
            return open_empty(clock, ids)

        assert [] == asyncio.run(played(open_here, seed, inside))

    nothing_is_left()


def test_no_word_of_erased_messages_alone_is_left(
    backend: str, open_empty: Opener, tmp_path: Path
) -> None:
    """In answers, history, receipts, export and index; on SQLite in no byte of the files."""
    check(backend, open_empty, tmp_path, COUNTS[backend])


@pytest.mark.prove
def test_no_word_of_erased_messages_alone_is_left_in_many_histories(
    backend: str, open_empty: Opener, tmp_path: Path
) -> None:
    """The same, at full count."""
    check(backend, open_empty, tmp_path, MANY[backend])


def given_alone(
    _words: object, given: Sequence[Evidence], *_: object, **__: object
) -> tuple[Evidence, ...]:
    """Drop the evidence of what a new value carries over."""
    return tuple(given)


def own_alone(_before: Founded, after: Founded, *_: object, **__: object) -> EvidenceMap:
    """Give a put only its own evidence."""
    return after.evidence


def first_alone(sources: Sequence[Memory]) -> list[Evidence]:
    """Forget all sources of a derived memory but one."""
    return derivation_evidence(sources[:1])


def present_alone(
    row: MemoryRow | RevisionRow, erased: AbstractSet[tuple[str, str]]
) -> Remainder | None:
    """Leave past versions unchanged."""
    if isinstance(row, RevisionRow):
        return Remainder(json.loads(row.value), row_sources(row))
    return row_remainder(row, erased)


derivation_evidence = derivation._evidence
Patch: TypeAlias = tuple[str, object]
MUTANTS: dict[str, list[Patch]] = {
    "a replaced value drops its old evidence": [
        ("stores.provenance.carried_over", given_alone),
        ("formation.evidence.carried_over", given_alone),
        ("formation.attribution.carried_over", given_alone),
        ("stores.plans.memory_writes.kept_evidence", own_alone),
    ],
    "what a model was shown is no source": [("formation.attribution.carried_over", given_alone)],
    "an edit by hand drops all evidence": [("stores.plans.memory_writes.kept_evidence", own_alone)],
    "one of a group is enough": [("stores.remainder.group_of", lambda _: 0)],
    "past versions are not looked at": [("stores.plans.erasure.row_remainder", present_alone)],
    "a consolidation forgets its sources": [("formation.derived_memories._evidence", first_alone)],
    "a refused value rests on nothing": [("formation.verdicts.evidence_at", lambda *_: ())],
    "a repetition is always believed": [("stores.provenance.is_enough", lambda *_: True)],
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_leak_is_seen(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Each mutant leaves words in one of a few histories, in which nothing is left without it."""
    for function, wrong in MUTANTS[name]:
        monkeypatch.setattr(f"recollect.{function}", wrong)

    found = (seed for seed in range(HISTORIES_MAX) if asyncio.run(played(open_in_memory, seed)))

    assert next(found, None) is not None


def open_in_memory(clock: Clock, ids: Ids) -> Store:
    """Open a store in memory."""
    return open_store("memory:", clock=clock, ids=ids)
