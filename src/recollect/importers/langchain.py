"""Messages as LangChain writes them: in files, and in the lists that it keeps in Redis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from recollect.records import Json, JsonObject

_ROLES: Final = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "function",
    "HumanMessageChunk": "user",
    "AIMessageChunk": "assistant",
}
_KEPT: Final = ("content", "name", "tool_calls")


def is_message(value: JsonObject) -> bool:
    """Say whether *value* is one of LangChain's messages as a dict."""
    about = value.get("data")
    return value.get("type") in _ROLES and isinstance(about, Mapping) and "content" in about


def as_chat_message(value: JsonObject) -> JsonObject:
    """Return such a message as one of a chat."""
    about: JsonObject = value["data"]  # type: ignore[assignment]
    kept: dict[str, Json] = {name: about[name] for name in _KEPT if about.get(name)}
    extra = about.get("additional_kwargs")
    if isinstance(extra, Mapping) and "tool_calls" not in kept and extra.get("function_call"):
        kept["function_call"] = extra["function_call"]
    return {"content": "", **kept, "role": _ROLES[str(value["type"])]}
