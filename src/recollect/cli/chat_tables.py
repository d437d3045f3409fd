"""Print memories in the chat, with their evidence and its time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from recollect.cli.commands.recall import entry_text
from recollect.cli.layout import minute, place_of_evidence, who_of
from recollect.cli.output import INDENT, print_entry, print_line, short
from recollect.records import Evidence, EvidenceMap, Memory, Message, Revision, Scope

if TYPE_CHECKING:
    from recollect.formation.review_records import LaterWords
    from recollect.memory.facade import Recollect
    from recollect.recall.context import Context

MESSAGES_LOOKED_AT: Final = 1_000
_QUOTE_CHARACTERS: Final = 120

Words: TypeAlias = Mapping[tuple[str, str], Message]
"""The messages that memories cite, by thread and id."""


async def dated_words(memory: Recollect, scope: Scope, found: Iterable[Memory | Revision]) -> Words:
    """Return the messages that memories cite, among the newest ``MESSAGES_LOOKED_AT`` a thread."""
    from recollect.stores.field_evidence import each_evidence  # loads the analysis of texts

    threads = {cited.thread for each in found for cited in each_evidence(each.evidence)}
    words: dict[tuple[str, str], Message] = {}
    for thread in sorted(threads):
        if await memory.thread(scope, thread) is None:
            continue
        newest = await memory.last_messages(scope, thread, limit=MESSAGES_LOOKED_AT)
        words |= {(thread, each.id): each for each in newest}
    return words


def print_memory(memory: Memory, words: Words, reason: str = "") -> None:
    """Print a memory: its address, version and time, its text, and the evidence of each field."""
    head = [
        (memory.type, "bold cyan"),
        (memory.key, "cyan"),
        (f"version {memory.version}", ""),
        (minute(memory.time), ""),
        (f"until {minute(memory.valid_until)}" if memory.valid_until else "", "dim"),
    ]
    print_entry(head, memory.text, [(reason, "italic")])
    _print_evidence(memory.evidence, words)


def print_later(since: Sequence[LaterWords]) -> None:
    """Print what was said since about a memory that waits for review."""
    from recollect.recall.memory_sentences import memory_sentence

    for each in since:
        memory = f"{each.memory.type}/{each.memory.key}"
        words = memory_sentence(each.value, each.memory.text)
        verb = "ended since" if each.ended else "said since"
        _print_line(f"{verb}, {minute(each.said_at)}: “{short(words, _QUOTE_CHARACTERS)}” {memory}")


def print_versions(memory: Memory, versions: Sequence[Revision], words: Words) -> None:
    """Print every version of a memory, oldest first."""
    for each in versions:
        believed = f"{minute(each.believed_from)} – {minute(each.believed_until) or 'now'}"
        head = [
            (memory.type, "bold cyan"),
            (memory.key, "cyan"),
            (f"version {each.version}", "bold"),
            (believed, ""),
            (each.cause, "italic"),
        ]
        print_entry(head, each.text, [])
        _print_evidence(each.evidence, words)


def _print_evidence(evidence: EvidenceMap, words: Words) -> None:
    for pointer, cited in evidence.items():
        for each in cited:
            _print_line(f"{pointer or 'all'}: {_cited(each, words)}")


def _cited(evidence: Evidence, words: Words) -> str:
    message = words.get((evidence.thread, evidence.message))
    quote = f"“{short(evidence.quote, _QUOTE_CHARACTERS)}” " if evidence.quote else ""
    if message is None:
        return f"{quote}{place_of_evidence(evidence)}"
    return f"{quote}{message.role}, {minute(message.time)}, {message.thread}/{message.position}"


def print_known(known: Context) -> None:
    """Print the context of a message: the profile, then the relevant memories and messages."""
    from recollect.chat.chat_prompt import recalled_in

    entries = recalled_in(known)
    for each in entries:
        head = [
            (minute(each.time), ""),
            (who_of(each.content), "bold"),
            (each.source, "cyan"),
        ]
        print_entry(head, entry_text(each), [])
    if not entries:
        _print_line("nothing relevant is remembered")


def aside(sentence: str) -> None:
    """Print a notice beside the conversation."""
    print_line((sentence, "dim"), is_folded=False, to_stderr=True)


def _print_line(line: str) -> None:
    print_line((line, "dim"), indent=INDENT, is_folded=False)
