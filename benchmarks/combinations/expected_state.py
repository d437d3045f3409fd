"""The expected state of a memory: all words, who said or wrote them, and whether they remain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Literal, TypeAlias

from recollect.records import Scope
from tests.harness.carried_words import SaidWords

CarrierState: TypeAlias = Literal["living", "away", "erased"]
CarrierKind: TypeAlias = Literal["message", "tally", "edit"]


@dataclass(slots=True)
class Carrier:
    """
    A message, a program's memory (a tally), or a person's edit of a memory.

    What is *away* was removed, deleted, or not in a backup: an import may bring it back. What was
    erased nothing may bring back.
    """

    name: str
    """The id of a message, or a name that only this model uses."""
    scope: Scope
    kind: CarrierKind
    state: CarrierState = "living"
    thread: str = ""
    source: str | None = None
    text: str = ""
    key: str = ""
    versions: list[str] = field(default_factory=list)
    """The text of each version of a tally, oldest first."""


Kept: TypeAlias = dict[str, tuple[CarrierState, str, tuple[str, ...]]]
"""The state, text and versions of each carrier at one moment."""


class ExpectedState:
    """The carriers of all words, by name and in order of appearance."""

    def __init__(self, chance: Random) -> None:
        self.words = SaidWords(chance)
        self.carriers: dict[str, Carrier] = {}
        self._numbers = count()

    def add(self, carrier: Carrier, words: set[str]) -> None:
        """Record that *carrier* also contains *words*."""
        self.carriers[carrier.name] = carrier
        self.words.said.setdefault(carrier.name, set()).update(words)

    def name(self) -> str:
        """Return a new name for a carrier other than a message."""
        return f"carrier {next(self._numbers)}"

    def messages(self, scope: Scope, thread: str | None = None) -> list[Carrier]:
        """Return the messages of a scope, or of one thread, by position."""
        return [
            each
            for each in self.carriers.values()
            if each.kind == "message"
            and each.state == "living"
            and each.scope == scope
            and thread in {None, each.thread}
        ]

    def tally(self, scope: Scope, key: str) -> Carrier | None:
        """Return the newest unerased tally at an address."""
        return next(reversed([each for each in self.tallies(scope) if each.key == key]), None)

    def tallies(self, scope: Scope) -> list[Carrier]:
        """Return the unerased tallies of a scope, oldest first."""
        return [
            each
            for each in self.carriers.values()
            if each.kind == "tally" and each.scope == scope and each.state != "erased"
        ]

    def erase(self, is_target: Callable[[Carrier], bool]) -> None:
        """Record that the given carriers were erased."""
        for each in self.carriers.values():
            if each.state != "erased" and is_target(each):
                each.state = "erased"
                self.words.erased.add(each.name)

    def gone(self) -> set[str]:
        """Return the words that only erased carriers contained."""
        return self.words.gone

    def of_others(self, scope: Scope) -> set[str]:
        """Return the words that occurred only outside *scope*."""
        mine = [each for each in self.carriers.values() if each.scope == scope]
        here = set[str]().union(*(self.words.said[each.name] for each in mine))
        return self.words.known - here

    def typed(self, scope: Scope) -> set[str]:
        """Return the words in a scope that a person or a program wrote into memories."""
        found = (each for each in self.carriers.values() if each.kind != "message")
        return set[str]().union(
            *(self.words.said[each.name] for each in found if each.scope == scope)
        )

    def kept(self) -> Kept:
        """Return a snapshot for `go_back`."""
        return {
            name: (each.state, each.text, tuple(each.versions))
            for name, each in self.carriers.items()
        }

    def go_back(self, kept: Kept) -> Iterator[Carrier]:
        """Restore a snapshot except for later erases; yield its carriers that are gone since."""
        for name, each in self.carriers.items():
            state, text, versions = kept.get(name, ("away", each.text, tuple(each.versions)))
            if each.state == "erased":
                continue
            if state == "living" and each.state == "away":
                yield each
            each.state, each.text, each.versions = state, text, list(versions)
