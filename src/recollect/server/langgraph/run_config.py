"""The configuration of a run: whose memory it is about, and how to form it."""

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
"""The configuration fields that a run keeps and shows later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    """How the messages of a run are stored and formed."""

    reach: Reach
    segments: tuple[str, ...]
    assistant: str | None
    settings: JsonObject
    debounce: Debounce
    types: Sequence[JsonObject]
    shown: JsonObject


async def configured(reach: Reach, asked: RunRequest, thread: KeptThread | None) -> Configured:
    """
    Return the validated configuration of a run.

    Raises:
        HTTPException: An option is not supported; 422.
        ForbiddenError: The key may not write there.
        UsageError: A memory type is invalid.
    """
    for name in ("command", "webhook"):
        if getattr(asked, name) is not None:
            msg = f"{name} means nothing to a memory: leave it out"
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
    return Configured(
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
    """Return the scope below the key's that a run is about; a thread stays in one."""
    kept = thread.scope if thread else None
    namespace, user = given.get("namespace"), given.get("user_id")
    named: tuple[str, ...] | None = None
    if namespace:
        named = _labels(namespace)
    elif user is not None and user != "":
        if isinstance(user, bool) or not isinstance(user, str | int):
            msg = f"user_id is text or a whole number, not {user!r}"
            raise UsageError(msg)
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
    """Return memory types as a client's configuration has them, in our own form."""
    if not given:
        return []
    if not is_object_list(given):
        msg = "memory_types is a list of memory types"
        raise UsageError(msg)
    plain: list[Mapping[str, object]] = []
    for each in given:
        fields = {name: value for name, value in each.items() if name != "system_prompt"}
        if prompt := each.get("system_prompt"):
            fields["description"] = f"{each.get('description', '')}\n{prompt}".strip()
        plain.append(fields)
    return [each.as_config() for each in load_types(plain)]


def _model(reach: Reach, given: Json) -> str | None:
    """Return the model that a run asks for, if it is one of the service's own."""
    if given is None or given == "":
        return None
    if not isinstance(given, str):
        msg = f"model is text, not {given!r}"
        raise UsageError(msg)
    named = reach.service.assistants
    offered = {each.model for each in (named.default, *named.named.values()) if each.model}
    if reach.service.model is not None:
        offered.add(reach.service.model.identity)
    if given in offered:
        is_configured = any(given == each.model for each in (named.default, *named.named.values()))
        return given if is_configured else None
    known = ", ".join(sorted(offered)) or "none"
    msg = (
        f"the model {given!r} is not offered here; there are: {known}. Leave it out, or name "
        "an assistant that has it"
    )
    raise HTTPException(UNPROCESSABLE, msg)


def _debounce(formation: FormationSettings, after_seconds: float | None) -> Debounce:
    """Return how long to wait: from the run, otherwise from its assistant."""
    debounce = formation.debounce
    if after_seconds is None:
        return debounce
    longest = max(debounce.max_wait_s, after_seconds)
    return replace(debounce, quiet_s=after_seconds, max_wait_s=longest)
