"""The caller of a graph or agent, who determines the scope and thread of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.runtime import get_runtime

from recollect.errors import UsageError
from recollect.records import Scope
from recollect.stores.checkpoint_threads import thread_of as named_place
from recollect.stores.validation import check_id, check_scope
from recollect.text.scope_paths import written_scope

THREAD_ID: Final = "thread_id"
RUNTIME: Final = "__pregel_runtime"
"""The key under which LangGraph passes its own run information in ``configurable``."""


ChosenT = TypeVar("ChosenT")


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphCaller:
    """
    The caller of a graph or an agent: the run's *context*, and *configurable* of its config.

    Both come from the program that starts the run, never from a model or a message.
    """

    context: Any = None
    configurable: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


Whose: TypeAlias = Scope | Callable[[GraphCaller], Scope]
"""A scope, or a function that returns the scope of a caller."""
Which: TypeAlias = str | Callable[[GraphCaller], str] | None
"""A thread, or a function that returns the thread of a caller; ``None``: the ``thread_id``."""


def present_caller(runtime: Any = None) -> GraphCaller:
    """Return the caller of the current run, or of *runtime* if given."""
    try:
        configurable = get_config().get("configurable", {})
        context = (get_runtime() if runtime is None else runtime).context
    except (RuntimeError, KeyError):  # outside of a run there is no caller
        configurable, context = {}, getattr(runtime, "context", None)
    return _caller(context, configurable)


def caller_in(config: RunnableConfig) -> GraphCaller:
    """Return the caller that *config* names; outside of a run it has no context."""
    configurable = config.get("configurable", {})
    return _caller(getattr(configurable.get(RUNTIME), "context", None), configurable)


def _caller(context: Any, configurable: Mapping[str, Any]) -> GraphCaller:
    # Names with two underscores are LangGraph's own, not the program's configuration.
    own = {name: each for name, each in configurable.items() if not name.startswith("__")}
    return GraphCaller(context=context, configurable=MappingProxyType(own))


def check_whose(whose: Whose) -> Whose:
    """
    Return *whose* if it is a scope or a function.

    Raises:
        UsageError: It is neither.
    """
    return whose if callable(whose) else check_scope(whose)


def scope_of(whose: Whose, caller: GraphCaller) -> Scope:
    """
    Return the scope of *caller*.

    Raises:
        UsageError: The function returned something other than a scope, or read a key that the
            caller has not.
    """
    return check_scope(_chosen(whose, caller, "scope") if callable(whose) else whose)


def _chosen(choose: Callable[[GraphCaller], ChosenT], caller: GraphCaller, what: str) -> ChosenT:
    """Call a user's function; the error for a missing key lists the existing ones."""
    try:
        return choose(caller)
    except KeyError as error:
        raise UsageError(
            f"the function that names the {what} reads {error.args[0]!r}, which this run has not: "
            f"its configurable has {_keys_of(caller.configurable)}, its context "
            f"{_keys_of(caller.context)}; start the run with config={{'configurable': "
            f"{{{error.args[0]!r}: …}}}} or with context=…"
        ) from error


def _keys_of(part: object) -> str:
    """Return the keys of a part of the caller for an error message; never the values."""
    if isinstance(part, Mapping):
        return ", ".join(sorted(map(repr, part))) or "nothing"
    return "nothing" if part is None else f"a {type(part).__name__}"


def thread_of(which: Which, caller: GraphCaller, scope: Scope) -> str:
    """
    Return the thread of *caller* in *scope*.

    A ``thread_id`` made by `thread_id_of` names the thread it was made from; the graph's
    checkpoints and mirror belong to that thread and are erased with it.

    Raises:
        UsageError: The thread cannot be determined, or ``thread_id`` names one of another scope.
    """
    if which is not None:
        chosen = _chosen(which, caller, "thread") if callable(which) else which
        return check_id(chosen, "a thread")
    named = caller.configurable.get(THREAD_ID)
    if named is None:
        raise UsageError(
            "the run has no thread_id: run the agent with config={'configurable': "
            "{'thread_id': …}}, or give thread=… here"
        )
    place = named_place(str(named))
    if place is None:
        return check_id(str(named), "a thread")
    # What one scope's memory tells would be said in the other's thread.
    if place[0] != scope:
        raise UsageError(
            f"the run's thread_id {named!r} names a thread of the scope {written_scope(place[0])}, "
            f"and the middleware or tools are those of {written_scope(scope)}: give both the same "
            "scope, or name the thread by thread=… here"
        )
    return place[1]
