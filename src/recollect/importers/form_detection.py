"""Detection of a JSON value's format, and the choice of its reader."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from recollect.errors import UsageError
from recollect.importers import chatgpt, claude, claude_code, graphiti, mem0
from recollect.importers import langgraph_items as langgraph
from recollect.importers import mcp_memory as mcp
from recollect.importers.graphiti import GraphitiGraph
from recollect.importers.import_entries import (
    Archived,
    Changed,
    Difference,
    ImportOptions,
    Refused,
    Row,
    no_object,
    shown,
)
from recollect.importers.input_files import ListProgress
from recollect.importers.json_stream import NESTED, is_nested
from recollect.importers.langchain_messages import as_chat_message
from recollect.importers.langchain_messages import is_message as is_langchain_message
from recollect.importers.locomo import is_sample, read_sample
from recollect.importers.message_lines import is_message, read_message
from recollect.importers.openai_chats import is_chat_message, read_chat_message
from recollect.records import Json, JsonObject
from recollect.text.coded_text import reason_of, with_code
from recollect.wire.record_digests import END

KINDS: Final = ("thread", "message", "memory", "side", "formation")
"""The kinds of record in an export of Recollect."""
_HEADER: Final = "export"
UNENDED: Final = Difference(
    "exports without a last line, which may have been cut or are of an earlier release"
)
MISCOUNTED: Final = Difference(
    "exports whose last line counts other records than came: some may be lost"
)
VERSIONS: Final = (1,)
"""The versions of Recollect's exports that this release reads."""

_Form: TypeAlias = tuple[
    Callable[[JsonObject], bool], Callable[[JsonObject, str, ImportOptions], Iterator[Row]]
]
"""A test for a format, and the reader of a value that passes it."""


def _read_row(value: JsonObject, place: str, reading: ImportOptions) -> Iterator[Row]:
    try:
        yield read_message(value, place, reading)
    except UsageError as error:
        yield Refused(place=place, reason=reason_of(error))


# The order matters: a value goes to the first reader whose test it passes.
_FORMS: Final[tuple[_Form, ...]] = (
    (claude_code.is_line, claude_code.read_line),
    (is_message, _read_row),
    (is_sample, read_sample),
    (chatgpt.is_conversation, chatgpt.read_conversation),
    (claude.is_conversation, claude.read_conversation),
    (claude.is_memories, claude.read_memories),
    (mem0.is_document, mem0.read_document),
    (mem0.is_memory, mem0.read_memory),
    (langgraph.is_item, langgraph.read_item),
    (mcp.is_line, mcp.read_line),
    (mcp.is_graph, mcp.read_graph),
)
_OF_MANY: Final = (mem0.read_document, mcp.read_graph)
"""The readers that check the nesting of each of their rows themselves."""


@dataclass(slots=True)
class ThreadNaming:
    """Names the chats of a file, and tracks the graph or export read so far."""

    reading: ImportOptions
    is_alone: bool
    """Whether the file holds at most one chat, which is then not numbered."""
    graph: GraphitiGraph
    listed: ListProgress
    chats: int = 0
    messages: int = 0
    records: int = 0
    """Records of Recollect's export since its beginning, to compare with its last line."""

    def next_chat(self) -> str:
        """Return the thread of the next chat: the file's name, numbered if it holds several."""
        self.chats += 1
        return self.reading.thread if self.is_alone else f"{self.reading.thread}-{self.chats}"

    def end(self, place: str) -> Iterator[Row]:
        """Yield the facts held until the end of the file, and a note on an unfinished export."""
        yield from self.graph.end()
        if self.records:
            yield Changed(place=place, what=UNENDED)


def naming_of(reading: ImportOptions, listed: ListProgress, *, is_alone: bool) -> ThreadNaming:
    """Return the state with which the reading of a file begins."""
    return ThreadNaming(reading, is_alone=is_alone, graph=GraphitiGraph(reading), listed=listed)


def read_value(value: Json, place: str, naming: ThreadNaming) -> Iterator[Row]:
    """Yield the rows of one value, in the format that it is detected to have."""
    if isinstance(value, list):
        yield from _read_list(value, place, naming)
    elif not isinstance(value, dict):
        yield Refused(place=place, reason=no_object(value))
    elif "kind" in value and ("scope" in value or value["kind"] in (_HEADER, END)):
        yield from _read_record(value, place, naming)
    else:
        yield from _read_object(value, place, naming)


def read_element(value: Json, place: str, naming: ThreadNaming) -> Iterator[Row]:
    """Yield the rows of a list's element; bare messages of the list together are one chat."""
    if isinstance(value, Mapping) and is_of_chat(value):
        naming.messages += 1
        yield from read_chat_part(value, place, naming.reading.thread, naming, naming.messages)
    else:
        yield from read_value(value, place, naming)


def read_chat_part(
    value: Json, place: str, chat: str, naming: ThreadNaming, number: int
) -> Iterator[Row]:
    """Yield *value* as the message with this *number* in the thread *chat*, or as refused."""
    if is_nested(value):
        yield Refused(place=place, reason=NESTED)
        return
    if isinstance(value, Mapping) and is_langchain_message(value):
        value = as_chat_message(value)
    try:
        yield read_chat_message(value, place, naming.reading, thread=chat, index=number)
    except UsageError as error:
        yield Refused(place=place, reason=reason_of(error))


def is_of_chat(value: JsonObject) -> bool:
    """Return True if *value* is a message that names no conversation."""
    if is_langchain_message(value):
        return True
    return is_chat_message(value) and not is_message(value) and not graphiti.kind_of(value)


def _read_record(value: JsonObject, place: str, naming: ThreadNaming) -> Iterator[Row]:
    """Yield a record of an export of Recollect, or check the count in its last line."""
    kind = value["kind"]
    naming.records += kind in KINDS
    if is_nested(value):
        yield Refused(place=place, reason=NESTED)
    elif kind in KINDS:
        yield Archived(place=place, record=value)
    elif kind == END:
        if value.get("count") != naming.records:
            yield Changed(place=place, what=MISCOUNTED)
        naming.records = 0
    elif kind == _HEADER and value.get("version") in VERSIONS:
        return  # the first line of a backup, which `recollect restore` reads
    else:
        what = f"of version {shown(value.get('version'))}" if kind == _HEADER else (
            f"with a record of the kind {shown(kind)}")  # fmt: skip
        reason = f"it is an export {what}, which this release does not know: import it with a later"
        yield Refused(place=place, reason=f"{reason} release of Recollect")


_PLAIN_ROWS: Final = (
    'a message is a row {"role": "user", "content": "…"} of one thread, or '
    '{"conversation_id": "…", "role": "user", "text": "…"}'
)


def _read_object(value: JsonObject, place: str, naming: ThreadNaming) -> Iterator[Row]:
    read = next((read for is_form, read in _FORMS if is_form(value)), None)
    messages = value.get("messages")
    is_graph = graphiti.is_graph(value)
    is_of_many = read in _OF_MANY if read else is_graph or isinstance(messages, list)
    if is_nested(value) and not is_of_many:
        yield Refused(place=place, reason=NESTED)
    elif read:
        yield from read(value, place, naming.reading)
    elif kind := graphiti.kind_of(value):
        yield from naming.graph.read_row(value, place, kind)
    elif is_graph:
        yield from naming.graph.read_graph(value, place)
    elif isinstance(messages, list):
        yield from _read_chat(messages, place, naming)
    elif is_of_chat(value):
        yield from read_element(value, place, naming)
    elif mem0.is_history(value):
        yield mem0.refuse_history(place)
    elif what := claude.left_out(value):
        yield Changed(place=place, what=what)
    else:
        names = ", ".join(map(shown, [*value][:6]))
        reason = with_code(
            "unknown_form",
            f"its format is unknown: it has the fields {names or '(none)'}; {_PLAIN_ROWS}",
            fields=names or "(none)",
        )
        yield Refused(place=place, reason=reason)


def _read_list(values: list[Json], place: str, naming: ThreadNaming) -> Iterator[Row]:
    if any(isinstance(each, Mapping) and is_of_chat(each) for each in values):
        yield from _read_chat(values, place, naming)
        return
    for number, value in _counted(values, naming):
        where = f"{place}, element {number}"
        if isinstance(value, list) and is_nested(value):
            yield Refused(place=where, reason=NESTED)
        else:
            yield from read_value(value, where, naming)


def _read_chat(values: list[Json], place: str, naming: ThreadNaming) -> Iterator[Row]:
    chat = naming.next_chat()
    for number, value in _counted(values, naming):
        yield from read_chat_part(value, f"{place}, message {number}", chat, naming, number)


def _counted(values: list[Json], naming: ThreadNaming) -> Iterator[tuple[int, Json]]:
    """Yield *values* with their numbers, and note how far the outermost list has come."""
    # A list of one says nothing: then the list inside counts.
    is_noted = naming.listed.share == 1.0 and len(values) > 1
    for number, value in enumerate(values, start=1):
        if is_noted:
            naming.listed.share = (number - 1) / len(values)
        yield number, value
    if is_noted:
        naming.listed.share = 1.0
