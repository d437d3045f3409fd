"""Import of Claude Code's sessions: takes the messages from a file with an event per line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from recollect.errors import NotFoundError, UsageError
from recollect.importers.import_entries import (
    REASONING,
    Changed,
    Difference,
    ImportOptions,
    Incoming,
    Refused,
    Row,
    optional_text_in,
    read_moment,
    shown,
    text_in,
)
from recollect.records import Json, JsonObject, NewMessage, Role
from recollect.text.coded_text import reason_of

SOURCE: Final = "claude-code"
EVENTS: Final = Difference(
    "events of Claude Code's own (summaries, snapshots, commands) were left out"
)
TOOLS: Final = Difference("calls of tools and their results were left out")
PICTURES: Final = Difference("pictures were left out")
AGENTS: Final = Difference("messages between the agent and its sub-agents were left out")

_ROLES: Final[Mapping[str, Role]] = {"user": "user", "assistant": "assistant"}
_OWN: Final = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
"""The flags of messages that Claude Code wrote itself with the role of user or assistant."""
_COMMAND: Final = re.compile(r"\s*(<(command-|local-command-|bash-)|\[Request interrupted)")
_LEFT_OUT_BLOCKS: Final = {
    "tool_use": TOOLS,
    "server_tool_use": TOOLS,
    "tool_result": TOOLS,
    "thinking": REASONING,
    "redacted_thinking": REASONING,
    "image": PICTURES,
    "document": PICTURES,
}
_NOT_ALPHANUMERIC: Final = re.compile(r"[^A-Za-z0-9]")


def is_line(value: JsonObject) -> bool:
    """Return True if *value* is a line of a session."""
    if not isinstance(value.get("type"), str):
        return False
    # Events such as "queue-operation" and "last-prompt" have no id; every message has.
    is_event = "sessionId" in value and ("uuid" in value or value["type"] not in _ROLES)
    return is_event or (value["type"] == "summary" and "leafUuid" in value)


def read_line(value: JsonObject, place: str, reading: ImportOptions) -> Iterator[Row]:
    """Yield the message of a line, if it has one, after a row for each part left out."""
    role = _ROLES.get(str(value["type"]))
    if value.get("isSidechain") is True:
        yield Changed(place=place, what=AGENTS)
        return
    if role is None or any(value.get(each) is True for each in _OWN):
        yield Changed(place=place, what=EVENTS)
        return
    try:
        text, left_out = _read_text(value.get("message"))
        found = _read_message(value, role, text, place, reading) if text else None
    except UsageError as error:
        yield Refused(place=place, reason=reason_of(error))
        return
    for what in left_out:
        yield Changed(place=place, what=what)
    if found:
        yield found


def _read_text(message: Json) -> tuple[str, list[Difference]]:
    """Return the text of a message, and a report sentence for each part left out."""
    content = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(content, str):
        return ("", [EVENTS]) if _COMMAND.match(content) else (content.strip(), [])
    if not isinstance(content, Sequence):
        raise UsageError(f"its message is {shown(message)}, which has no content")
    texts: list[str] = []
    left_out: list[Difference] = []
    for block in content:
        kind = block.get("type") if isinstance(block, Mapping) else None
        text = block.get("text") if isinstance(block, Mapping) else None
        if kind == "text" and isinstance(text, str):
            if _COMMAND.match(text):
                left_out.append(EVENTS)
            elif text.strip():
                texts.append(text.strip())
        else:
            left_out.append(_LEFT_OUT_BLOCKS.get(str(kind), EVENTS))
    return "\n\n".join(texts), left_out


def _read_message(
    value: JsonObject, role: Role, text: str, place: str, reading: ImportOptions
) -> Incoming:
    time, is_assumed = read_moment(value.get("timestamp"), reading)
    branch = optional_text_in(value, "gitBranch")
    message = NewMessage(
        role=role,
        text=text,
        id=text_in(value, "uuid"),
        time=time,
        source=SOURCE,
        metadata={"branch": branch} if branch else {},
    )
    return Incoming(
        place=place,
        thread=text_in(value, "sessionId"),
        message=message,
        is_zone_assumed=is_assumed,
        below=reading.below,
    )


def session_files(project: Path, config: Path) -> list[str]:
    """
    Return the paths of a project's session files, least recently changed first.

    Args:
        project: The folder in which Claude Code was started.
        config: Claude Code's settings folder, ``~/.claude`` by default.

    Raises:
        NotFoundError: There are none.
    """
    # Claude Code names a project's folder after its path, with a dash for each other character.
    folder = config / "projects" / _NOT_ALPHANUMERIC.sub("-", str(project))
    found = sorted(folder.glob("*.jsonl"), key=lambda each: each.stat().st_mtime)
    if not found:
        raise NotFoundError(
            f"there are no sessions of Claude Code for {str(project)!r} in {str(folder)!r}: run "
            "this in the project's folder, or name the files"
        )
    return [str(each) for each in found]
