"""
The text that each system puts into a prompt: recollect's two forms and three controls.

The controls show messages as their memories, best first by one plain search, each in the form in
which it reaches a prompt elsewhere: a dated line, mem0's list of its quickstart, and the items
that LangMem's search tool returns as JSON. No control has formed notes: without a model there
are none, and so each shows the very words that the evidence is counted by.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import NAMESPACE_URL, uuid5

from benchmarks.conversation_files import BenchmarkMessage
from benchmarks.search_controls import spoken_text
from recollect.recall.context import Context
from recollect.recall.rendering import render_block
from recollect.recall.results import Recall, Recalled, in_time, record_of
from recollect.records import Message
from recollect.text.searchable import message_text
from recollect.text.token_estimate import estimated_tokens

RANKED: Final = 200
"""Best entries considered for a block."""


@dataclass(frozen=True, slots=True)
class ShownText:
    """The prompt text of a system for a question, and the words of each message in it."""

    text: str
    words: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class BlockLine:
    """One entry of a block: the message, its words, its line, and the line's tokens."""

    message_id: str
    words: str
    line: str
    cost: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockForm:
    """The format of a system's block: each message's line, and the whole text."""

    name: str
    line_of: Callable[[BenchmarkMessage], str]
    joined: Callable[[Sequence[str]], str]

    def lines(self, ranked: Sequence[BenchmarkMessage]) -> list[BlockLine]:
        """Return the lines of the best messages, with their tokens."""
        found = []
        for message in ranked[:RANKED]:
            line = self.line_of(message)
            cost = estimated_tokens(line + "\n")
            found.append(BlockLine(message.message_id, spoken_text(message), line, cost))
        return found

    def shown(self, lines: Sequence[BlockLine], budget: int) -> ShownText:
        """Return the block of those lines that fit *budget*, best first."""
        kept = fitting(lines, budget - estimated_tokens(self.joined([])))
        text = self.joined([each.line for each in kept]) if kept else ""
        return ShownText(text, {each.message_id: each.words for each in kept})


def fitting(lines: Iterable[BlockLine], tokens: int) -> list[BlockLine]:
    """Return the lines that fit, tried in order; one that is too long is skipped."""
    kept = []
    for each in lines:
        if each.cost <= tokens:
            tokens -= each.cost
            kept.append(each)
    return kept


def _dated(message: BenchmarkMessage) -> str:
    words = message_text(message.text, None, _picture(message))
    return f"{message.time:%Y-%m-%d} {message.speaker}: {words}"


def _picture(message: BenchmarkMessage) -> list[dict[str, str]] | None:
    return [{"caption": message.image_caption}] if message.image_caption else None


def _item(message: BenchmarkMessage) -> str:
    moment = f"{message.time:%Y-%m-%dT%H:%M:%S.%f+00:00}"
    item = {
        "namespace": ["memories", "bench"],
        "key": str(uuid5(NAMESPACE_URL, message.message_id)),
        "value": {"content": spoken_text(message)},
        "created_at": moment,
        "updated_at": moment,
        "score": 0.5374219,
    }
    return json.dumps(item, ensure_ascii=False)


PLAIN: Final = BlockForm(name="plain lines", line_of=_dated, joined="\n".join)
MEM0: Final = BlockForm(
    name="mem0's form",
    line_of=lambda message: f"- {spoken_text(message)}",
    joined=lambda lines: "\n".join(["User Memories:", *lines]),
)
LANGMEM: Final = BlockForm(
    name="LangMem's form", line_of=_item, joined=lambda lines: f"[{', '.join(lines)}]"
)
CONTROLS: Final = (PLAIN, MEM0, LANGMEM)


def shown_by_context(context: Context) -> ShownText:
    """Return the prompt text of a context."""
    words = {
        each.entry.content.id: each.text
        for each in context.entries
        if isinstance(each.entry.content, Message)
    }
    return ShownText(str(context), words)


class RenderedRecall:
    """The entries of a search, rendered into blocks by `Recall.render`."""

    def __init__(self, recall: Recall) -> None:
        self._entries: dict[str, Recalled] = {}
        self._frame = estimated_tokens(render_block([]))
        self._lines: list[BlockLine] = []
        for each in recall.entries[:RANKED]:
            if isinstance(each.content, Message):
                self._entries[each.content.id] = each
                line = render_block([record_of(each)]).split("\n")[1]
                cost = estimated_tokens(line + "\n")
                self._lines.append(BlockLine(each.content.id, record_of(each).text, line, cost))

    def shown(self, budget: int, limit: int = RANKED) -> ShownText:
        """Return the best *limit* entries whose rendered block costs no more than *budget*."""
        kept = fitting(self._lines[:limit], budget - self._frame)
        entries = sorted((self._entries[each.message_id] for each in kept), key=in_time)
        block = render_block([record_of(each) for each in entries]) if kept else ""
        return ShownText(block, {each.message_id: each.words for each in kept})
