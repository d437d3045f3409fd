"""Validate operations on LangGraph's store before anything is read or written."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_type_hints

from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    Op,
    PutOp,
    SearchOp,
    TTLConfig,
)

from recollect.errors import UsageError
from recollect.records import Scope
from recollect.stores.filters import read_filter
from recollect.stores.json_pointers import is_number
from recollect.stores.validation import check_id, check_position

MATCHES = ("prefix", "suffix")


def check_ops(ops: Iterable[Op]) -> list[Op]:
    """
    Return *ops* as a list, if all of them are valid.

    Raises:
        InvalidNamespaceError: A label is empty, not text, or contains a period or a NUL.
        UsageError: An operation is invalid in another way; the error says how.
    """
    checked = list(ops)
    for op in checked:
        if isinstance(op, GetOp):
            check_namespace(op.namespace)
            check_id(op.key, "an item's key")
        elif isinstance(op, SearchOp):
            _check_search(op)
        elif isinstance(op, PutOp):
            _check_put(op)
        elif isinstance(op, ListNamespacesOp):
            _check_listing(op)
        else:
            raise UsageError(f"{op!r} is none of GetOp, SearchOp, PutOp, ListNamespacesOp")
    return checked


def check_namespace(namespace: object) -> Scope:
    """Return *namespace* if LangGraph allows it; the root has no labels."""
    if isinstance(namespace, str | bytes) or not isinstance(namespace, Sequence):
        msg = f"a namespace is a tuple of labels, such as ('users', 'ada'); not {namespace!r}"
        raise InvalidNamespaceError(msg)
    for label in namespace:
        if not isinstance(label, str):
            msg = f"the label {label!r} of the namespace {namespace!r} is not text"
        elif not label:
            msg = f"the namespace {namespace!r} has an empty label"
        elif "." in label:
            msg = f"the label {label!r} of the namespace {namespace!r} contains a period"
        elif "\0" in label:
            msg = f"the label {label!r} of the namespace {namespace!r} contains a NUL"
        else:
            continue
        raise InvalidNamespaceError(msg)
    return tuple(namespace)


def _check_put(op: PutOp) -> None:
    if not check_namespace(op.namespace) and op.value is not None:
        msg = "the namespace of an item cannot be empty: give it a label, such as ('users',)"
        raise InvalidNamespaceError(msg)
    check_id(op.key, "an item's key")
    if op.value is not None and not isinstance(op.value, Mapping):
        msg = f"an item's value is a JSON object (a dict), not {type(op.value).__name__}"
        raise UsageError(msg)
    check_ttl(op.ttl, "ttl")


def _check_search(op: SearchOp) -> None:
    check_namespace(op.namespace_prefix)
    _check_page(op.limit, op.offset)
    read_filter({} if op.filter is None else op.filter)
    if op.query is not None and not isinstance(op.query, str):
        raise UsageError(f"a query is text, or None to list what is newest; not {op.query!r}")


def _check_listing(op: ListNamespacesOp) -> None:
    _check_page(op.limit, op.offset)
    if op.max_depth is not None and check_position(op.max_depth, "max_depth") < 1:
        msg = f"max_depth {op.max_depth} leaves nothing of a namespace: give at least 1, or None"
        raise UsageError(msg)
    for condition in op.match_conditions or ():
        if condition.match_type not in MATCHES:
            msg = f"unknown condition {condition!r}: use MatchCondition('prefix' or 'suffix', …)"
            raise UsageError(msg)
        check_namespace(condition.path)


def _check_page(limit: object, offset: object) -> None:
    for name, count in (("limit", limit), ("offset", offset)):
        if check_position(count, name) < 0:
            raise UsageError(f"{name} {count} is below 0: give a whole number from 0")


def check_ttl(ttl: object, what: str) -> float | None:
    """Return *ttl*, a number of minutes above 0 or ``None`` for ever, if it is valid."""
    if ttl is None:
        return None
    if not is_number(ttl) or not 0 < ttl <= sys.float_info.max:
        raise UsageError(f"{what} is a number of minutes above 0, or None; not {ttl!r}")
    return float(ttl)


def check_keys(config: Mapping[str, object], known: type, what: str) -> None:
    """Raise for a key that the TypedDict *known* lacks, as it would have no effect."""
    keys = sorted(get_type_hints(known))
    if unknown := sorted(str(each) for each in config if each not in keys):
        raise UsageError(f"{what} has no key {unknown[0]!r}: use {', '.join(keys)}")


def check_ttl_config(config: object) -> TTLConfig | None:
    """Return *config* if it is a valid configuration of times to live."""
    if config is None:
        return None
    if not isinstance(config, Mapping):
        raise UsageError(f"ttl is a configuration such as {{'default_ttl': 60}}, not {config!r}")
    check_keys(config, TTLConfig, "ttl")
    for name in ("default_ttl", "sweep_interval_minutes"):
        check_ttl(config.get(name), f"ttl[{name!r}]")
    for name in ("refresh_on_read", "omit_expired"):
        if not isinstance(config.get(name, True), bool):
            raise UsageError(f"ttl[{name!r}] is True or False, not {config[name]!r}")
    given: Any = dict(config)
    found: TTLConfig = given
    return found
