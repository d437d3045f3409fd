"""The configuration of a run: the scope of its messages, and how they are formed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from starlette.exceptions import HTTPException

from recollect.errors import UsageError
from recollect.formation.config import FormationSettings
from recollect.formation.types import load_types
from recollect.records import Json, JsonObject
from recollect.server.http.scope_access import Reach
from recollect.server.http.type_registry import settings_of
from recollect.server.langgraph.assistants import assistant_named
from recollect.server.langgraph.request_context import UNPROCESSABLE, reach_below
from recollect.server.langgraph.request_schemas import RunRequest
from recollect.server.langgraph.run_records import KeptThread
from recollect.server.schemas.elements import JsonAnswer
from recollect.stores.json_pointers import is_object_list
from recollect.stores.plans.due_times import Debounce

SHOWN: Final = ("user_id", "namespace", "model")
"""The configuration fields that a run stores and returns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """How the messages of a run are stored and formed."""

    reach: Reach
    segments: tuple[str, ...]
    assistant: str | None
    settings: JsonObject
    debounce: Debounce
    types: Sequence[JsonObject]
    shown: JsonObject


async def read_run_config(reach: Reach, asked: RunRequest, thread: KeptThread | None) -> RunConfig:
    """
    Return the validated configuration of a run.

    Raises:
        HTTPException: An option is not supported; 422.
        ForbiddenError: The key may not write there.
        UsageError: A memory type is invalid.
    """
    for name in ("command", "webhook"):
        if getattr(asked, name) is not None:
            msg = f"{name} is not supported by a memory: leave it out"
            raise HTTPException(UNPROCESSABLE, msg)
    given = _configurable(asked)
    segments = _segments(given, thread)
    inside = reach_below(reach, segments, "write")
    assistant = assistant_named(reach.service.assistants, asked.assistant_id)
    settings = dict(await settings_of(inside, assistant))
    types = _types(given.get("memory_types", given.get("types")))
    if types:
        settings["types"] = list(types)
    if (model := _model(reach, given.get("model"))) is not None:
        settings["model"] = model
    formation = reach.service.assistants.of(settings, inside.scope)
    return RunConfig(
        reach=inside,
        segments=segments,
        assistant=assistant,
        settings=settings,
        debounce=_debounce(formation, asked.after_seconds),
        types=types,
        shown={name: given[name] for name in SHOWN if given.get(name) is not None},
    )


def _configurable(asked: RunRequest) -> dict[str, Json]:
    within = (asked.config or {}).get("configurable")
    found: JsonAnswer = dict(within) if isinstance(within, Mapping) else {}
    return found | dict(asked.context or {})


def _segments(given: Mapping[str, Json], thread: KeptThread | None) -> tuple[str, ...]:
    """Return the scope of a run, below the key's; all runs of a thread have the same."""
    kept = thread.scope if thread else None
    namespace, user = given.get("namespace"), given.get("user_id")
    named: tuple[str, ...] | None = None
    if namespace:
        named = _labels(namespace)
    elif user is not None and user != "":
        if isinstance(user, bool) or not isinstance(user, str | int):
            raise UsageError(f"user_id is text or a whole number, not {user!r}")
        named = (str(user),)
    if kept is not None and named is not None and named != kept:
        msg = (
            f"the thread belongs to {list(kept)!r}, and the run names {list(named)!r}: "
            "use a thread of its own for each user"
        )
        raise HTTPException(UNPROCESSABLE, msg)
    return kept if kept is not None else named or ()


def _labels(namespace: Json) -> tuple[str, ...]:
    labels = [namespace] if isinstance(namespace, str) else namespace
    found = labels if isinstance(labels, list | tuple) else ()
    if not found or not all(isinstance(each, str) for each in found):
        msg = f"namespace is a list of labels, such as ['users', 'ada'], not {namespace!r}"
        raise UsageError(msg)
    return tuple(str(each) for each in found)


def _types(given: Json) -> list[JsonObject]:
    """Convert memory types from a client's configuration to our form."""
    if not given:
        return []
    if not is_object_list(given):
        raise UsageError("memory_types is a list of memory types")
    plain: list[Mapping[str, object]] = []
    for each in given:
        fields = {name: value for name, value in each.items() if name != "system_prompt"}
        if prompt := each.get("system_prompt"):
            fields["description"] = f"{each.get('description', '')}\n{prompt}".strip()
        plain.append(fields)
    return [each.as_config() for each in load_types(plain)]


def _model(reach: Reach, given: Json) -> str | None:
    """Return the model that a run asks for, if the service offers it."""
    if given is None or given == "":
        return None
    if not isinstance(given, str):
        raise UsageError(f"model is text, not {given!r}")
    assistants = reach.service.assistants
    settings = (assistants.default, *assistants.named.values())
    configured = {each.model for each in settings if each.model}
    if given in configured:
        return given
    chat = reach.service.model
    if chat is not None and given == chat.identity:
        return None  # it is the default already
    known = ", ".join(sorted(configured | ({chat.identity} if chat else set()))) or "none"
    msg = (
        f"the model {given!r} is not offered here; there are: {known}. Leave it out, or name "
        "an assistant that has it"
    )
    raise HTTPException(UNPROCESSABLE, msg)


def _debounce(formation: FormationSettings, after_seconds: float | None) -> Debounce:
    """Return the debounce of a run: its own delay, otherwise that of its assistant."""
    debounce = formation.debounce
    if after_seconds is None:
        return debounce
    longest = max(debounce.max_wait_s, after_seconds)
    return replace(debounce, quiet_s=after_seconds, max_wait_s=longest)
