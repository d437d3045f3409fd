"""LangGraph's store over HTTP: items and formed memories below the key's scope."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import APIRouter, Query, Response
from starlette.exceptions import HTTPException

from recollect.errors import UsageError
from recollect.formation.scope_types import types_below
from recollect.formation.types import load_types
from recollect.records import JsonObject
from recollect.server.http.scope_access import Reach
from recollect.server.http.type_registry import types_of
from recollect.server.langgraph.request_context import BAD_REQUEST, UNPROCESSABLE, Reading, Writing
from recollect.server.langgraph.request_schemas import (
    LIMIT,
    ItemAddressRequest,
    ItemRequest,
    NamespacesRequest,
    SearchRequest,
)
from recollect.server.langgraph.run_records import read_types
from recollect.server.schemas.elements import JsonAnswer
from recollect.stores.filters import read_filter

if TYPE_CHECKING:
    from langgraph.store.base import Item

    from recollect.integrations.langgraph import FormedStore

router: Final = APIRouter(prefix="/store", tags=["langgraph"])
Refresh = Annotated[bool | None, Query(description="Whether to restart its time to live.")]


async def _store(reach: Reach, namespace: Sequence[str], *, below: bool = False) -> FormedStore:
    """
    Return LangGraph's store over the memory, rooted at the key's scope.

    It shows the types of the scopes that *namespace* may mean: itself, and its parent if the last
    label is a type; with *below*, also those of all scopes below.

    Raises:
        MissingExtraError: LangGraph is not installed.
    """
    from recollect.integrations.langgraph import FormedStore  # noqa: PLC0415 (an extra)

    types = [*reach.service.assistants.all_types()]
    noted = await read_types(reach.memory, reach.scope)
    types += load_types(noted) if noted else ()
    if below:
        types += await types_below(reach.memory.store, (*reach.scope, *namespace))
    for labels in (namespace, namespace[:-1]):
        types += await types_of(replace(reach, scope=(*reach.scope, *labels)))
    return FormedStore(
        reach.memory, reach.scope, types=list({each.name: each for each in types}.values())
    )


@router.put("/items", summary="Put an item", status_code=204)
async def put_item(reach: Writing, asked: ItemRequest) -> Response:
    """Put an item, or revise the formed memory at its address."""
    key = _checked(asked.namespace, asked.key)
    if not asked.namespace:
        raise HTTPException(BAD_REQUEST, "Namespace cannot be empty.")
    store = await _store(reach, asked.namespace)
    lasting = {} if asked.ttl is None else {"ttl": asked.ttl}
    with _invalid_namespaces():
        await store.aput(tuple(asked.namespace), key, asked.value, asked.index, **lasting)
    return Response(status_code=204)


@router.get("/items", summary="Get an item")
async def get_item(
    reach: Reading,
    namespace: Annotated[str, Query(max_length=20_000)] = "",
    key: str | None = None,
    refresh_ttl: Refresh = None,
) -> JsonAnswer | None:
    """Return an item, null if there is none; the labels of *namespace* are joined by periods."""
    labels = namespace.split(".")
    key = _checked(labels, key)
    with _invalid_namespaces():
        found = await (await _store(reach, labels)).aget(
            tuple(labels), key, refresh_ttl=refresh_ttl
        )
    return None if found is None else _to_json(found)


@router.delete("/items", summary="Delete an item", status_code=204)
async def delete_item(reach: Writing, asked: ItemAddressRequest) -> Response:
    """Delete an item, or erase the formed memory at its address."""
    key = _checked(asked.namespace, asked.key)
    with _invalid_namespaces():
        await (await _store(reach, asked.namespace)).adelete(tuple(asked.namespace), key)
    return Response(status_code=204)


@router.post("/items/search", summary="Search items")
async def search_items(reach: Reading, asked: SearchRequest) -> JsonAnswer:
    """Return items of a namespace and all below it; this needs the permission `below`."""
    reach.may("read", below=True)
    prefix = tuple(asked.namespace_prefix or ())
    _check_labels(prefix)
    _check_filter(asked.filter)
    with _invalid_namespaces():
        found = await (await _store(reach, prefix, below=True)).asearch(
            prefix,
            query=asked.query,
            filter=asked.filter,
            limit=asked.limit or LIMIT,
            offset=asked.offset,
            refresh_ttl=asked.refresh_ttl,
        )
    return {"items": [_to_json(each) | {"score": each.score} for each in found]}


@router.post("/namespaces", summary="List namespaces")
async def list_namespaces(reach: Reading, asked: NamespacesRequest) -> JsonAnswer:
    """Return the namespaces with items, in order; this needs the permission `below`."""
    reach.may("read", below=True)
    with _invalid_namespaces():
        found = await (await _store(reach, (), below=True)).alist_namespaces(
            prefix=tuple(asked.prefix) if asked.prefix else None,
            suffix=tuple(asked.suffix) if asked.suffix else None,
            max_depth=asked.max_depth,
            limit=asked.limit or LIMIT,
            offset=asked.offset,
        )
    return {"namespaces": [list(each) for each in found]}


def _checked(namespace: list[str], key: str | None) -> str:
    if not key:
        raise HTTPException(BAD_REQUEST, "Key is required")
    _check_labels(namespace)
    return key


def _check_labels(namespace: tuple[str, ...] | list[str]) -> None:
    for label in namespace:
        if not label or "." in label:
            msg = f"Namespace label {label!r} must be a non-empty string without periods"
            raise HTTPException(UNPROCESSABLE, msg)


def _check_filter(filter_: JsonObject | None) -> None:
    """Reject an unknown operator as LangGraph's server does."""
    try:
        read_filter(filter_ or {})
    except UsageError as error:
        raise HTTPException(BAD_REQUEST, f"Unsupported operator: {error}") from None


@contextmanager
def _invalid_namespaces() -> Iterator[None]:
    """Respond with 400 to a namespace that LangGraph does not allow."""
    try:
        yield
    except ValueError as error:
        if type(error).__name__ != "InvalidNamespaceError":
            raise
        raise HTTPException(BAD_REQUEST, str(error)) from None


def _to_json(item: Item) -> JsonAnswer:
    return {
        "namespace": list(item.namespace),
        "key": item.key,
        "value": dict(item.value),
        "created_at": item.created_at.isoformat(timespec="microseconds"),
        "updated_at": item.updated_at.isoformat(timespec="microseconds"),
    }
