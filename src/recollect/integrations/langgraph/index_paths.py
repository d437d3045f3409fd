"""The index configuration of a LangGraph store: field paths, searched text, and embedder."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Literal

from langgraph.store.base import IndexConfig, ensure_embeddings, get_text_at_path, tokenize_path

from recollect.embedders import EmbedderChoice
from recollect.errors import UsageError
from recollect.integrations.langgraph.store_operations import check_keys
from recollect.providers.object_names import is_async
from recollect.records import JsonObject
from recollect.text.searchable import memory_text

WHOLE: Final = "$"
OUR_EMBEDDERS: Final = frozenset({"auto", "minilm", "none"})
Index = Literal[False] | Sequence[str] | None


def read_fields(fields: object, what: str) -> tuple[str, ...]:
    """
    Return the paths of *fields*.

    Raises:
        UsageError: *fields* is not a list of texts; *what* names it in the error.
    """
    if isinstance(fields, str) or not isinstance(fields, Sequence):
        raise UsageError(f"{what} is a list of paths such as ['text', 'tags[*]'], not {fields!r}")
    for path in fields:
        if not isinstance(path, str):
            msg = f"{what} names the path {path!r}: a path is text, such as 'author.name'"
            raise UsageError(msg)
    return tuple(fields)


def searched_text(value: JsonObject, index: Index, fields: Sequence[str]) -> str:
    r"""
    Return the text by which an item is found; empty if it is not to be found.

    Args:
        index: The item's own paths; ``None`` for *fields*, ``False`` to exclude it from searches.

    >>> value = {"title": "Tea", "tags": ["green", "hot"], "price": 3}
    >>> searched_text(value, ["title", "tags[*]"], ())
    'Tea\ngreen\nhot'
    >>> searched_text(value, None, ["$"])
    'title: Tea; tags: green, hot; price: 3'
    """
    if index is False:
        return ""
    paths = fields if index is None else read_fields(index, "index")
    return "\n".join(text for path in paths for text in _texts(value, path) if text.strip())


def _texts(value: JsonObject, path: str) -> list[str]:
    if path in {"", WHOLE}:
        return [memory_text(value)]
    return get_text_at_path(dict(value), tokenize_path(path))


def embedder_of(index: Mapping[str, object] | None) -> EmbedderChoice:
    """
    Return the embedder in an index configuration, as `recollect.open` takes it.

    LangChain opens ``"provider:model"``; an async function is wrapped as a synchronous one.
    """
    embed: Any = (index or {}).get("embed")
    if embed is None:
        return "auto"
    if isinstance(embed, str):
        return embed if embed in OUR_EMBEDDERS else ensure_embeddings(embed)
    return _awaited(embed) if is_async(embed) else embed


def _awaited(embed: Callable[[Sequence[str]], Any]) -> Callable[[Sequence[str]], Any]:
    """Return an async embedding function as a synchronous one."""

    async def embedded(texts: Sequence[str]) -> Any:
        return await embed(list(texts))

    def call(texts: Sequence[str]) -> Any:
        # A thread with a loop of its own works even if this thread has a running loop.
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(lambda: asyncio.run(embedded(texts))).result()

    kind = embed if hasattr(embed, "__qualname__") else type(embed)
    named = f"{kind.__module__}.{kind.__qualname__}"
    call.identity = getattr(embed, "identity", None) or named  # type: ignore[attr-defined]
    return call


def check_index(index: object) -> tuple[str, ...]:
    """Return the default searched paths of an index configuration, or of none."""
    if index is None:
        return (WHOLE,)
    if not isinstance(index, Mapping):
        raise UsageError(f"index is a configuration such as {{'fields': ['text']}}, not {index!r}")
    check_keys(index, IndexConfig, "index")
    fields = index.get("fields")
    return (WHOLE,) if fields is None else read_fields(fields, "index['fields']")
