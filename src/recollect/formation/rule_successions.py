"""Facts that the rule model puts behind one before them: a home after a home, work after work."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final

from recollect.formation.citations import cited_words
from recollect.formation.rule_end_calls import is_told_by, names_of_user, tells_field, told_day
from recollect.formation.rule_statements import RuleStatement
from recollect.formation.tool_names import END
from recollect.ports import ToolCall
from recollect.records import Json

_FACT: Final = "Fact"
_PREDICATES: Final = {"home": ("lives in", "住在"), "occupation": ("works as", "工作是")}
"""How a fact tells a profile's field, in English and in Chinese."""
_HAN: Final = re.compile("[\u3400-\u9fff]")


def successions(
    known: Sequence[Mapping[str, Json]],
    told: Sequence[RuleStatement],
    offered: set[str],
    days: Mapping[int, date],
) -> tuple[list[RuleStatement], list[ToolCall]]:
    """
    Return what is left of *told* for the profile, and the calls of the facts that take the rest.

    A home or work that one fact in force tells, and the profile does not, is told by a fact again:
    the graph and the timeline go on. The call that ends the fact before it is not made here. What
    the fact tells already needs no call.
    """
    if not {_FACT, END} <= offered:
        return list(told), []
    newest = {each.field: each for each in told if each.field in _PREDICATES}
    calls: list[ToolCall] = []
    taken = set()
    for field, now in newest.items():
        before = _fact_before(known, field)
        if before is None:
            continue
        taken.add(field)
        if not is_told_by(before, str(now.value)):
            calls.append(_fact_of(before, now, days.get(now.number)))
    return [each for each in told if each.field not in taken], calls


def _fact_before(known: Sequence[Mapping[str, Json]], field: str) -> Mapping[str, Json] | None:
    """Return the one fact that tells *field* of the user; ``None`` if the profile has it too."""
    for each in known:
        value = each["value"]
        if each["type"] == "User" and isinstance(value, Mapping) and field in value:
            return None
    names = names_of_user(known)
    facts = [each["value"] for each in known if tells_field(each, field, names)]
    (only, *others) = facts or [None]
    return only if isinstance(only, Mapping) and not others else None


def _fact_of(before: Mapping[str, Json], now: RuleStatement, said_on: date | None) -> ToolCall:
    """Return the call of the fact that follows *before*, in the language of its words."""
    value = {
        "subject": before["subject"],
        "predicate": _PREDICATES[now.field][bool(_HAN.search(now.quote))],
        "object": _with_article(now),
    }
    arguments: dict[str, Json] = {
        "value": value,
        "because": [cited_words(now.number, now.quote)],
    }
    if begun := told_day(now.quote, said_on):
        arguments["since"] = begun
    return ToolCall(name=_FACT, arguments=json.dumps(arguments, ensure_ascii=False))


def _with_article(now: RuleStatement) -> str:
    """Return a value with the article that its words have: "works as a beekeeper"."""
    said = re.search(rf"\ban? {re.escape(str(now.value))}$", now.quote)
    return said[0] if said else str(now.value)
