"""Claude's exports: conversations, and what Claude remembers of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from recollect.errors import UsageError
from recollect.importers.import_entries import (
    Changed,
    ImportOptions,
    Incoming,
    Refused,
    Row,
    made_id,
    optional_text_in,
    read_moment,
    shown,
    text_in,
)
from recollect.importers.memory_records import FileMemory, remembered
from recollect.records import Json, JsonObject, NewMessage, Role
from recollect.stores.json_pointers import is_list

OTHER_BRANCHES: Final = "messages of other branches than the current one were left out"
EMPTY: Final = "messages without words were left out"
REASONING: Final = "parts of the model's reasoning were left out"
ATTACHED: Final = "attached files were kept as the words that were taken from them"
PROJECTS: Final = "projects (their instructions and documents) were left out"
ACCOUNTS: Final = "accounts were left out"

_ROLES: Final[dict[str, Role]] = {"human": "user", "assistant": "assistant"}


def is_conversation(value: JsonObject) -> bool:
    """Return True if *value* is one conversation of an export."""
    return isinstance(value.get("chat_messages"), list)


def is_memories(value: JsonObject) -> bool:
    """Return True if *value* is what Claude remembers."""
    return "conversations_memory" in value or "project_memories" in value


def left_out(value: JsonObject) -> str | None:
    """Return what kind of *value* is skipped, if it is one."""
    if "uuid" not in value:
        return None
    if "prompt_template" in value and "docs" in value:
        return PROJECTS
    return ACCOUNTS if "full_name" in value and "email_address" in value else None


def read_conversation(value: JsonObject, place: str, reading: ImportOptions) -> Iterator[Row]:
    """Yield the messages of the current branch, oldest first, and what was left out."""
    given = value["chat_messages"]
    said = given if is_list(given) else ()
    changed: Counter[str] = Counter()
    try:
        thread = text_in(value, "uuid")
        branch = _branch(value.get("current_leaf_message_uuid"), said)
    except UsageError as error:
        yield Refused(place=place, reason=str(error))
        return
    changed[OTHER_BRANCHES] += len(said) - len(branch)
    title = optional_text_in(value, "name") if isinstance(value.get("name"), str) else None
    for number, each in branch:
        where = f"{place}, message {number}"
        try:
            found = _incoming(each, where, reading, title=title, thread=thread, changed=changed)
        except UsageError as error:
            yield Refused(place=where, reason=str(error))
            continue
        if found is None:
            changed[EMPTY] += 1
        else:
            yield found
    for what, count in changed.items():
        if count:
            yield Changed(place=place, what=what, count=count)


def _branch(leaf: Json, said: Sequence[Json]) -> list[tuple[int, Json]]:
    """Return the numbered messages of the current branch; all, where the file names none."""
    numbered = list(enumerate(said, start=1))
    by_id = {each.get("uuid"): (number, each) for number, each in numbered
             if isinstance(each, Mapping)}  # fmt: skip
    has_parents = any("parent_message_uuid" in each for _, each in by_id.values())
    if not isinstance(leaf, str) or leaf not in by_id or not has_parents:
        return [(number, each) for number, each in numbered]
    found: dict[int, Json] = {}
    at: Json = leaf
    while isinstance(at, str) and at in by_id:
        number, each = by_id[at]
        if number in found:
            msg = f"its messages go in a circle at {shown(at)}: export it again"
            raise UsageError(msg)
        found[number] = each
        at = each.get("parent_message_uuid")
    return list(reversed(found.items()))


def _incoming(
    said: Json,
    place: str,
    reading: ImportOptions,
    *,
    title: str | None,
    thread: str,
    changed: Counter[str],
) -> Incoming | None:
    if not isinstance(said, Mapping):
        msg = f"a message is {shown(said)}, not a JSON object"
        raise UsageError(msg)
    sender = said.get("sender")
    if not isinstance(sender, str) or sender not in _ROLES:
        msg = f"unknown sender {shown(sender)}: known are {', '.join(_ROLES)}"
        raise UsageError(msg)
    time, is_assumed = read_moment(said.get("created_at"), reading)
    text, blocks = _content(said, changed)
    attached = _attached(said, changed)
    if not text.strip() and not blocks and not attached:
        return None
    if attached:
        blocks = [*(blocks or ([{"type": "text", "text": text}] if text else [])), *attached]
    message = NewMessage(
        role=_ROLES[sender],
        text="\n\n".join([*([text] if text else []), *(str(each["text"]) for each in attached)]),
        id=text_in(said, "uuid"),
        time=time,
        content=blocks,
        source="claude",
        metadata={"title": title} if title else {},
    )
    return Incoming(place=place, thread=thread, message=message, is_zone_assumed=is_assumed)


def _content(said: JsonObject, changed: Counter[str]) -> tuple[str, list[Json] | None]:
    """Return a message's words, and its blocks where not all of them are words."""
    given = said.get("content")
    whole = said.get("text")
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        return (whole if isinstance(whole, str) else ""), None
    blocks = [each for each in given if isinstance(each, Mapping)]
    kept = [each for each in blocks if each.get("type") != "thinking"]
    changed[REASONING] += len(blocks) - len(kept)
    words = [each["text"] for each in kept if isinstance(each.get("text"), str)]
    text = "\n".join(str(each) for each in words)
    others = any(each.get("type") != "text" for each in kept)
    return text, [*kept] if others else None


def _attached(said: JsonObject, changed: Counter[str]) -> list[dict[str, Json]]:
    found: list[dict[str, Json]] = []
    given = said.get("attachments")
    for each in given if isinstance(given, list) else ():
        if isinstance(each, Mapping) and isinstance(each.get("extracted_content"), str):
            name = each.get("file_name")
            named = name if isinstance(name, str) else "a file"
            text = f"{named}:\n{each['extracted_content']}"
            found.append({"type": "text", "text": text, "file": named})
    changed[ATTACHED] += len(found)
    return found


def read_memories(value: JsonObject, place: str, reading: ImportOptions) -> Iterator[Row]:
    """Yield what Claude remembers as summaries: of all conversations, and of each project."""
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
