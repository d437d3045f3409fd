"""Calls of the rule model that end what is remembered of a partner, home, job or liking."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final

from recollect.formation.citations import cited_words
from recollect.formation.rule_ends import ToldEnd
from recollect.formation.rule_statements import RuleStatement
from recollect.formation.tool_names import END
from recollect.ports import ToolCall
from recollect.records import Json
from recollect.stores.json_pointers import is_list
from recollect.text.begun_days import begun_day

_REPLACED: Final = {
    "home": re.compile(r"\blives? (?:in|at)$|住在?$"),
    "occupation": re.compile(r"^works? as\b|^(?:职业|職業)(?:是)?$"),
}
"""The predicates of facts that a new value of a profile's field ends."""
_OVER: Final = {
    "home": _REPLACED["home"],
    "occupation": re.compile(r"^(?:works?|is employed) (?:as|at|for)\b|^(?:职业|職業|工作)"),
}
"""The predicates of facts that end if the user says so."""


def end_calls(
    known: Sequence[Mapping[str, Json]],
    told: Sequence[RuleStatement],
    ends: Sequence[tuple[int, ToldEnd]],
    offered: set[str],
    days: Mapping[int, date] | None = None,
) -> list[ToolCall]:
    """
    Return the calls that end what is *known* of a home, a job, a partner or an allergy.

    *told* has the new values of the profile's fields: each ends the facts of the one before it.
    *ends* has what is said to be over, with the number of the message: it leaves the profile, and
    facts about it end. *offered* names the tools of the request, *days* has
    the days of the messages: an end is of the day that its words name.
    """
    newest = {each.field: each for each in told if each.field in _REPLACED}
    over = [(number, each) for number, each in ends if each.field not in newest]
    calls = [call for each in known if (call := _removal_of(each, over))]
    if END not in offered:
        return calls
    names = names_of_user(known)
    for each in known:
        for field, left in newest.items():
            if tells_field(each, field, names) and not is_told_by(each["value"], str(left.value)):
                calls.append(_end_of(each, left.number, left.quote, (days or {}).get(left.number)))
    for number, end in over:
        facts = [each for each in known if _is_over(each["value"], end, names)]
        if end.of or len(facts) == 1:  # "my job" is the only one that is known
            calls += [_end_of(each, number, end.quote, (days or {}).get(number)) for each in facts]
    return calls


def _place_in_profile(value: Json, end: ToldEnd) -> str:
    """Return the pointer to what is over in a document; empty if it is not there."""
    told = value.get(end.field) if isinstance(value, Mapping) else None
    if isinstance(told, str):
        return f"/{end.field}" if end.ends(told) else ""
    listed = [str(each).casefold() for each in told] if is_list(told) else []
    at = end.of.casefold()
    return f"/{end.field}/{listed.index(at)}" if at in listed else ""


def _removal_of(known: Mapping[str, Json], ends: Sequence[tuple[int, ToldEnd]]) -> ToolCall | None:
    """Return the call that removes from a document what is over; ``None`` if it has none of it."""
    quotes = {
        place: cited_words(number, end.quote)
        for number, end in ends
        if (place := _place_in_profile(known["value"], end))
    }
    if not quotes:
        return None
    changes = [
        {"op": "remove", "path": place, "because": [quotes[place]]}
        for place in sorted(quotes, key=_from_the_end)
    ]
    arguments = json.dumps({"id": known["id"], "changes": changes}, ensure_ascii=False)
    return ToolCall(name="patch_memory", arguments=arguments)


def _from_the_end(place: str) -> tuple[str, int]:
    """Return a key by which later items of a list come first: the earlier keep their places."""
    field, _, item = place[1:].partition("/")
    return field, -int(item or 0)


def _is_about(fact: Mapping[str, Json], names: frozenset[str]) -> bool:
    return not names or str(fact.get("subject", "")).casefold() in names


def tells_field(known: Mapping[str, Json], field: str, names: frozenset[str]) -> bool:
    """Return True for a fact that tells the home, or the work, of the user with these *names*."""
    fact = known["value"]
    if not isinstance(fact, Mapping) or not _is_about(fact, names):
        return False
    return bool(_REPLACED[field].search(str(fact.get("predicate", ""))))


def is_told_by(fact: Json, value: str) -> bool:
    """Return True if a fact tells *value* already."""
    if not isinstance(fact, Mapping):
        return False
    return value.casefold() in f"{fact.get('predicate', '')} {fact.get('object', '')}".casefold()


def _is_over(fact: Json, end: ToldEnd, names: frozenset[str]) -> bool:
    """Return True for a fact that tells what is said to be over."""
    if end.field not in _OVER or not isinstance(fact, Mapping) or not _is_about(fact, names):
        return False
    predicate = str(fact.get("predicate", ""))
    told = f"{predicate} {fact.get('object', '')}"
    return bool(_OVER[end.field].search(predicate)) and end.ends(told)


def names_of_user(known: Sequence[Mapping[str, Json]]) -> frozenset[str]:
    """Return the names by which facts may call the user; none if no profile tells one."""
    values = (each["value"] for each in known if each["type"] == "User")
    names = {
        str(value[name]).casefold()
        for value in values
        if isinstance(value, Mapping)
        for name in ("user_name", "name")
        if value.get(name)
    }
    return (
        frozenset(names | {"user", "the user", "用户", "用戶", "使用者"}) if names else frozenset()
    )


def _end_of(known: Mapping[str, Json], number: int, quote: str, said_on: date | None) -> ToolCall:
    """Return the call that ends a fact, on the day that the words name, if it had begun by then."""
    arguments = {"id": known["id"], "because": [cited_words(number, quote)]}
    at = told_day(quote, said_on)
    if at > str(known.get("since", "")):
        arguments["at"] = at
    return ToolCall(name=END, arguments=json.dumps(arguments, ensure_ascii=False))


def told_day(quote: str, said_on: date | None) -> str:
    """Return the day that a *quote* tells, a first of a month as that month; empty if none."""
    day = begun_day(quote, said_on) if said_on else None
    if day is None:
        return ""
    return f"{day:%Y-%m}" if day.day == 1 else str(day)
