"""
Find the LangGraph threads whose checkpoints contain copies of a conversation; pure.

LangGraph's own code stores a graph's checkpoints under one ``thread_id`` each. This module derives
that id from our scope and thread, so that an erase finds the copies without depending on LangGraph.
"""

from __future__ import annotations

from dataclasses import dataclass

from recollect.records import Scope
from recollect.stores.plans.erase_targets import (
    EraseMessages,
    EraseQuotedMemory,
    EraseScope,
    EraseSource,
    EraseTarget,
    EraseThread,
)
from recollect.stores.unit_of_work import Rows
from recollect.stores.validation import check_new_thread, check_scope


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointThreads:
    """A set of LangGraph threads: those with one of *ids*, and those starting with *prefix*."""

    ids: tuple[str, ...] = ()
    prefix: str | None = None

    def __bool__(self) -> bool:
        return bool(self.ids) or self.prefix is not None

    def __contains__(self, thread_id: str) -> bool:
        begins = self.prefix is not None and thread_id.startswith(self.prefix)
        return begins or thread_id in self.ids


def thread_id_of(scope: Scope, thread: str) -> str:
    """
    Return the ``thread_id`` of the checkpoints that belong to *thread* of *scope*.

    Raises:
        UsageError: The scope or the thread is invalid.

    >>> thread_id_of(("acme", "users", "a/b"), "first talk")
    'acme/users/a%2Fb//first talk'
    """
    scope, thread = check_scope(scope), check_new_thread(thread)
    return f"{_joined(scope)}//{_escaped(thread)}"


def thread_of(thread_id: str) -> tuple[Scope, str] | None:
    """
    Return the scope and thread encoded in *thread_id*, ``None`` if it is not ours.

    >>> thread_of("acme/users/a%2Fb//first talk"), thread_of("1")
    ((('acme', 'users', 'a/b'), 'first talk'), None)
    """
    path, found, thread = thread_id.partition("//")
    scope = tuple(_unescaped(each) for each in path.split("/"))
    if not (found and thread and all(scope)):
        return None
    is_ours = f"{_joined(scope)}//{_escaped(_unescaped(thread))}" == thread_id
    return (scope, _unescaped(thread)) if is_ours else None


def copies_of(rows: Rows, scope: Scope, target: EraseTarget) -> CheckpointThreads:
    """
    Return the LangGraph threads that contain copies of what *target* erases from *scope*.

    A checkpoint contains the whole state of its thread, so erasing any message erases all
    checkpoints of the thread. Nothing records which memories a graph has read, so erasing a memory
    erases no checkpoint.
    """
    match target:
        case EraseScope(below=below):
            # "acme/" begins the ids of acme and all scopes below, "acme//" those of acme alone.
            return CheckpointThreads(prefix=f"{_joined(scope)}{'/' if below else '//'}")
        case (
            EraseThread(thread=thread)
            | EraseMessages(thread=thread)
            | EraseQuotedMemory(thread=thread)
        ):
            return CheckpointThreads(ids=(f"{_joined(scope)}//{_escaped(thread)}",))
        case EraseSource(source=source):
            row = rows.scope(scope)
            numbers = (
                {each.thread for each in rows.messages_of_source(row.id, source)} if row else ()
            )
            threads = rows.thread_ids(row.id, sorted(numbers)).values() if row else ()
            return CheckpointThreads(
                ids=tuple(f"{_joined(scope)}//{_escaped(each)}" for each in threads)
            )
        case _:
            return CheckpointThreads()


def _joined(scope: Scope) -> str:
    return "/".join(_escaped(each) for each in scope)


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("/", "%2F")


def _unescaped(text: str) -> str:
    return text.replace("%2F", "/").replace("%25", "%")
