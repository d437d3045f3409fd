"""Import of Claude's exports: conversations, and Claude's memories of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from recollect.errors import UsageError
from recollect.importers.import_entries import (
    EMPTY,
    OTHER_BRANCHES,
    REASONING,
    Difference,
    ImportOptions,
    Incoming,
    Refused,
    Row,
    changes,
    made_id,
    optional_text_in,
    read_moment,
    read_role,
    shown,
    text_blocks,
    text_in,
    trace_branch,
)
from recollect.importers.memory_records import FileMemory, remembered
from recollect.records import Json, JsonObject, NewMessage, Role
from recollect.stores.json_pointers import is_list
from recollect.text.coded_text import reason_of

ATTACHED: Final = Difference("attached files were kept as the words that were taken from them")
WORDLESS: Final = Difference("attached files without words, such as pictures, were left out")
PROJECTS: Final = Difference("projects (their instructions and documents) were left out")
ACCOUNTS: Final = Difference("accounts were left out")

_ROLES: Final[dict[str, Role]] = {"human": "user", "assistant": "assistant"}


def is_conversation(value: JsonObject) -> bool:
    """Return True if *value* is one conversation of an export."""
    return isinstance(value.get("chat_messages"), list)


def is_memories(value: JsonObject) -> bool:
    """Return True if *value* holds Claude's memories."""
    return "conversations_memory" in value or "project_memories" in value


def left_out(value: JsonObject) -> Difference | None:
    """Return the report sentence for a *value* of an export that is skipped, else ``None``."""
    if "uuid" not in value:
        return None
    if "prompt_template" in value and "docs" in value:
        return PROJECTS
    return ACCOUNTS if "full_name" in value and "email_address" in value else None


def read_conversation(value: JsonObject, place: str, reading: ImportOptions) -> Iterator[Row]:
    """Yield the messages of the current branch, oldest first, then counts of what was left out."""
    given = value["chat_messages"]
    messages = given if is_list(given) else ()
    changed: Counter[Difference] = Counter()
    try:
        thread = text_in(value, "uuid")
        branch = _read_branch(value.get("current_leaf_message_uuid"), messages)
    except UsageError as error:
        yield Refused(place=place, reason=reason_of(error))
        return
    changed[OTHER_BRANCHES] += len(messages) - len(branch)
    title = optional_text_in(value, "name") if isinstance(value.get("name"), str) else None
    for number, each in branch:
        where = f"{place}, message {number}"
        try:
            found = _read_message(each, where, reading, title=title, thread=thread, changed=changed)
        except UsageError as error:
            yield Refused(place=where, reason=reason_of(error))
            continue
        if found is None:
            changed[EMPTY] += 1
        else:
            yield found
    yield from changes(place, changed)


def _read_branch(leaf: Json, messages: Sequence[Json]) -> list[tuple[int, Json]]:
    """Return the numbered messages of the current branch; all messages if none is marked."""
    numbered = list(enumerate(messages, start=1))
    by_id = {
        str(each.get("uuid")): (number, each)
        for number, each in numbered
        if isinstance(each, Mapping)
    }
    parents = {id_: each.get("parent_message_uuid") for id_, (_, each) in by_id.items()}
    # Without parents the messages are one sequence, not a tree: all of them are current.
    has_parents = any("parent_message_uuid" in each for _, each in by_id.values())
    if not isinstance(leaf, str) or leaf not in by_id or not has_parents:
        return [(number, each) for number, each in numbered]
    branch, _ = trace_branch(leaf, parents)
    return [by_id[id_] for id_ in branch]


def _read_message(
    raw: Json,
    place: str,
    reading: ImportOptions,
    *,
    title: str | None,
    thread: str,
    changed: Counter[Difference],
) -> Incoming | None:
    """Return a message, counting omitted parts in *changed*; ``None`` if it is empty."""
    if not isinstance(raw, Mapping):
        raise UsageError(f"a message is {shown(raw)}, not a JSON object")
    role = read_role(raw.get("sender"), _ROLES, what="sender")
    time, is_assumed = read_moment(raw.get("created_at"), reading)
    text, blocks = _read_content(raw, changed)
    attached = _read_attachments(raw, changed)
    if not text.strip() and not blocks and not attached:
        return None
    if attached:
        blocks = [*(blocks or text_blocks(text)), *attached]
    message = NewMessage(
        role=role,
        text="\n\n".join([*([text] if text else []), *(str(each["text"]) for each in attached)]),
        id=text_in(raw, "uuid"),
        time=time,
        content=blocks,
        source="claude",
        metadata={"title": title} if title else {},
    )
    return Incoming(place=place, thread=thread, message=message, is_zone_assumed=is_assumed)


def _read_content(raw: JsonObject, changed: Counter[Difference]) -> tuple[str, list[Json] | None]:
    """Return a message's text, and its blocks if any of them is not text."""
    given = raw.get("content")
    whole = raw.get("text")
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        return (whole if isinstance(whole, str) else ""), None
    blocks = [each for each in given if isinstance(each, Mapping)]
    kept = [each for each in blocks if each.get("type") != "thinking"]
    changed[REASONING] += len(blocks) - len(kept)
    text = "\n".join(str(each["text"]) for each in kept if isinstance(each.get("text"), str))
    others = any(each.get("type") != "text" for each in kept)
    return text, [*kept] if others else None


def _read_attachments(raw: JsonObject, changed: Counter[Difference]) -> list[dict[str, Json]]:
    """Return the extracted texts of a message's attached files, as text blocks."""
    found: list[dict[str, Json]] = []
    others = set[str]()
    for each in _files_in(raw):
        name = each.get("file_name")
        named = name if isinstance(name, str) and name else "a file"
        words = each.get("extracted_content")
        if isinstance(words, str):
            found.append({"type": "text", "text": f"{named}:\n{words}", "file": named})
        else:
            others.add(str(name or each.get("file_uuid") or len(others)))
    changed[ATTACHED] += len(found)
    changed[WORDLESS] += len(others - {str(each["file"]) for each in found})
    return found


def _files_in(raw: JsonObject) -> Iterator[JsonObject]:
    """Yield what is attached to a message; an attachment may be listed as a file as well."""
    for name in ("attachments", "files"):
        given = raw.get(name)
        yield from (each for each in given if isinstance(each, Mapping)) if is_list(given) else ()


def read_memories(value: JsonObject, place: str, reading: ImportOptions) -> Iterator[Row]:
    """Yield Claude's memories as summaries: one of all conversations, and one for each project."""
    account = value.get("account_uuid")
    whole = value.get("conversations_memory")
    projects = value.get("project_memories")
    texts: dict[str, Json] = {"conversations": whole} if whole else {}
    if isinstance(projects, Mapping):
        texts |= {f"project {name}": text for name, text in projects.items()}
    for name, text in texts.items():
        where = f"{place}, memory of {name}"
        if not isinstance(text, str) or not text.strip():
            yield Refused(place=where, reason=f"it is {shown(text)}, not text")
            continue
        key = made_id(reading, "claude", account, name)
        found = FileMemory(type="Summary", key=key, value={"content": text, "topics": [name]})
        yield remembered(where, found)
