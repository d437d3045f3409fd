"""
A model that carries words over, and the words that it carries: nonsense that stands nowhere else.

What such a model makes of messages holds words of whatever else it was shown, as what a real one
makes does. So any text that can be read tells by its words what it owes to which message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

from recollect.formation.rule_requests import shown_in
from recollect.formation.second_reader import JUDGE
from recollect.ports import ModelRequest, ToolCall
from recollect.records import Json
from recollect.testing.scripted_model import ScriptedAnswer

FILLER: Final = "shelf cup lamp"
"""Words that every message says, so that notes are alike enough to be merged."""
FIELDS: Final = ("about", "habits", "plans")
_JUDGED: Final = re.compile(r'^(\d+) \{"(?:new|change|over)"', re.MULTILINE)
"""A line of a second reading that is to be judged."""


@dataclass
class SaidWords:
    """Which words were said in which messages, and which ones a person typed."""

    chance: Random
    said: dict[str, set[str]] = field(default_factory=dict)
    typed: set[str] = field(default_factory=set)
    places: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    erased: set[str] = field(default_factory=set)

    @property
    def known(self) -> set[str]:
        """Return all words that there were."""
        return self.typed.union(*self.said.values())

    @property
    def gone(self) -> set[str]:
        """Return the words that occur in erased messages alone."""
        erased = set[str]().union(*(self.said[each] for each in self.erased))
        living = (words for id_, words in self.said.items() if id_ not in self.erased)
        return erased.difference(self.typed, *living)

    def new(self) -> str:
        """Return a word that no language has, and that was not there before."""
        while True:
            pairs = (
                self.chance.choice("bdfgklmnprtvz") + self.chance.choice("aiou") for _ in "123"
            )
            made = f"{''.join(pairs)}ktok"
            if made not in self.known:
                return made

    def all_in(self, text: str) -> list[str]:
        """Return our words in *text*."""
        return [each for each in sorted(self.known) if each in text]

    def some(self, text: str) -> list[str]:
        """Return one or two of our words in *text*, if it has any."""
        found = self.all_in(text)
        return self.chance.sample(found, min(len(found), self.chance.randint(1, 2)))


class CarryingModel:
    """Answers with calls that carry over words of whatever a request shows."""

    def __init__(self, words: SaidWords) -> None:
        self.again: tuple[dict[str, Json], str] | None = None
        """A note that is formed once more, with the words that are quoted for it."""
        self._words = words
        self._chance = words.chance

    def __call__(self, request: ModelRequest) -> ScriptedAnswer:
        """Return calls that carry over words of what *request* shows."""
        if request.tools[0].name == JUDGE:
            return [self._judged(request.turns[0].text)]
        if any(each.name == "merge_memories" for each in request.tools):
            return self._combined(request.turns[0].text)
        shown = shown_in(request)
        lines = [(number, text) for number, _, text in shown.new]
        if self.again:
            note, quote = self.again
            cited = [_cited(number, quote) for number, text in lines if quote in text]
            return [_call("Note", value=note, because=[each]) for each in cited]
        seen = " ".join([*(json.dumps(v) for *_, v in shown.known), *(t for *_, t in shown.before)])
        lives = [(id_, value) for id_, type_, value in shown.known if type_ == "Life"]
        calls = []
        for number, text in lines:
            told = self._words.some(text)
            if told and self._chance.random() < 0.6:
                calls.append(self._note(number, told, seen))
            elif told and lives:
                calls.append(self._patch(*lives[0], _cited(number, told[0]), told, seen))
            elif told:
                value: dict[str, Json] = {"about": self._text(told, seen), "habits": [told[0]]}
                calls.append(_call("Life", value=value, because=[_cited(number, told[0])]))
        return calls or [ToolCall(name="nothing_new", arguments={})]

    def _judged(self, text: str) -> ToolCall:
        """Return the verdicts of a second reader, whose reasons quote whatever it is shown."""
        verdicts: list[Json] = []
        for number in _JUDGED.findall(text):
            is_right = self._chance.random() < 0.5
            wrong = "" if is_right else " and ".join(self._words.some(text))
            verdicts.append({"number": int(number), "right": is_right, "wrong": wrong})
        return _call(JUDGE, verdicts=verdicts)

    def _text(self, told: Sequence[str], seen: str) -> str:
        """Return a text of what was told, and mostly of what was seen besides."""
        carried = self._words.some(seen) if self._chance.random() < 0.7 else []
        return " and ".join(self._chance.sample([*told, *carried], len(told) + len(carried)))

    def _note(self, number: int, told: Sequence[str], seen: str) -> ToolCall:
        value = {"context": FILLER, "content": self._text(told, seen)}
        return _call("Note", value=value, because=[_cited(number, told[0])])

    def _patch(
        self,
        id_: str,
        value: Mapping[str, Json],
        cited: Mapping[str, Json],
        told: Sequence[str],
        seen: str,
    ) -> ToolCall:
        changes = [{**each, **cited} for each in self._operations(value, told, seen)]
        return _call("patch_memory", id=id_, changes=changes)

    def _operations(
        self, value: Mapping[str, Json], told: Sequence[str], seen: str
    ) -> Iterator[dict[str, Json]]:
        name = self._chance.choice(FIELDS)
        there, text = value.get(name), self._text(told, f"{json.dumps(value)} {seen}")
        if name in value and self._chance.random() < 0.3:
            yield {"op": self._chance.choice(["move", "copy"]), "from": f"/{name}", "path": "/past"}
            yield {"op": "replace", "path": "/past", "value": text}
        elif isinstance(there, list) and there:
            anew: Json = [text, *self._words.some(seen)]
            path, made = self._chance.choice(
                list[tuple[str, Json]]([(f"/{name}/0", text), (f"/{name}", anew)])
            )
            yield {"op": "replace", "path": path, "value": made}
            yield {"op": "add", "path": f"/{name}/-", "value": text}
        else:
            made = self._chance.choice(list[Json]([text, [text], {"now": text, told[0]: "yes"}]))
            yield {"op": "add", "path": f"/{name}", "value": made}

    def _combined(self, text: str) -> ScriptedAnswer:
        groups: list[list[tuple[str, str]]] = []
        for line in text.split("\n"):
            if line.startswith("Group "):
                groups.append([])
            elif line.startswith("["):
                id_, value, *_ = json.loads(line)
                # The undo of a message may leave a note without its content.
                groups[-1].append((id_, value.get("content", FILLER)))
        found = self._chance.choice([each for each in groups if len(each) > 1])
        named = self._chance.sample(found, 2)
        said = [content for _, content in named]
        if self._chance.random() < 0.6:
            said += self._words.some(text)
        tool = self._chance.choice(["merge_memories", "derive_memory"])
        value = {"context": FILLER, "content": " and ".join(said)}
        return [_call(tool, ids=[id_ for id_, _ in named], value=value)]


def _cited(number: int, quote: str) -> dict[str, Json]:
    return {"message": number, "quote": quote}


def _call(name: str, **arguments: Json) -> ToolCall:
    return ToolCall(name=name, arguments=json.dumps(arguments))
