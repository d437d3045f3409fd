"""Records of instructions: prompts, versions, proposals and outcomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias

from recollect.agents.instructions.rule_changes import RuleChange, rules_in
from recollect.errors import UsageError
from recollect.messages import AnyMessage, message_classes
from recollect.records import (
    INSTRUCTIONS_CASE,
    Evidence,
    Json,
    JsonObject,
    Memory,
    PutMemory,
    Revision,
)
from recollect.stores.json_pointers import is_list
from recollect.stores.validation import check_text

ProposalStatus: TypeAlias = Literal["waiting", "accepted", "refused", "unchanged"]
"""The state of a proposal; ``unchanged`` if the model kept the rules as they are."""
Success: TypeAlias = Literal["success", "failure"]

NAME_CHARACTERS_MAX: Final = 200
CASES_MAX: Final = 1_000
WHY_CHARACTERS_MAX: Final = 2_000
_BY: Final = "by "
_ACCEPTED: Final = "accepted by "


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """
    The current instructions: the fixed rules, the agent's, and those for one user.

    *version* and *user_version* are the versions of the agent's and the user's document, 0 if
    there is none.
    """

    fixed: tuple[str, ...]
    rules: tuple[str, ...]
    user_rules: tuple[str, ...] = ()
    version: int = 0
    user_version: int = 0

    @property
    def text(self) -> str:
        """The prompt: one rule per line, the fixed ones first."""
        return "\n".join(f"- {each}" for each in (*self.fixed, *self.rules, *self.user_rules))

    def render(self) -> str:
        """Return `text`, for a system message."""
        return self.text

    def messages(self) -> list[AnyMessage]:
        """Return the prompt as a system message; an empty list if there is no rule."""
        return [message_classes().system(self.text)] if self.text else []


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """
    One version of instructions: its rules, author, reason and time.

    *proposal* is the id of the accepted proposal, ``""`` for rules written directly.
    """

    version: int
    rules: tuple[str, ...]
    by: str
    why: str
    at: datetime
    proposal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """
    A conversation, or a part of it, and how well it went.

    *lines* are (speaker, text). *evidence* cites its messages if they are in the scope of the
    document to change: erasing them erases rules derived from them.
    """

    lines: tuple[tuple[str, str], ...]
    feedback: str = ""
    score: float | None = None
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringCase:
    """
    An input on which prompts are compared; *expected* is for the scorer.

    A new prompt that scores lower than the old one on a *required* case is refused, regardless of
    the other cases.
    """

    name: str
    input: str
    expected: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """The mean scores of the old and the new prompt, and both by case; ``None`` if not run."""

    old: float
    new: float | None
    by_case: Mapping[str, tuple[float, float | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionsProposal:
    """
    A proposed change of a document, and its state.

    *base* is the version that it changes. *rules* are the rules after the change, or the unchanged
    rules if the change breaks a limit. *reason* says why it was refused.
    """

    id: str
    base: int
    rules: tuple[str, ...]
    changes: tuple[RuleChange, ...]
    status: ProposalStatus
    by: str
    at: datetime
    reason: str = ""
    scores: Scores | None = None

    @property
    def why(self) -> str:
        """The reasons of its changes, joined."""
        return "; ".join(each.reason for each in self.changes)[:WHY_CHARACTERS_MAX]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeCounts:
    """The outcomes of one pair of versions: counts and mean score."""

    version: int
    user_version: int
    successes: int
    failures: int
    mean_score: float | None


def cause_of(by: str, why: str) -> str:
    """
    Return the cause of a version, which encodes its author and reason.

    Raises:
        UsageError: *by* is blank or holds a colon, or *why* is blank.
    """
    check_text(by, "by")
    check_text(why, "why")
    if not by.strip() or ":" in by or len(by) > NAME_CHARACTERS_MAX:
        raise UsageError(
            f"by={by[:80]!r}: name the author of the change, without a colon, in at most "
            f"{NAME_CHARACTERS_MAX} characters (NAME_CHARACTERS_MAX)"
        )
    if not why.strip() or len(why) > WHY_CHARACTERS_MAX:
        raise UsageError(
            f"why={why[:80]!r}: give the reason of the change, in at most "
            f"{WHY_CHARACTERS_MAX} characters (WHY_CHARACTERS_MAX)"
        )
    return f"{_BY}{by}: {why}"


def cause_of_proposal(by: str, proposal: str) -> str:
    """
    Return the cause of a version made by accepting *proposal*.

    It names the proposal instead of quoting its reasons, as these must vanish with the evidence,
    and a version's cause is not erased with it.
    """
    return f"{_ACCEPTED}{cause_of(by, proposal).removeprefix(_BY)}"


def edit_of(revision: Revision) -> Edit:
    """Return a version with its author and reason; other writers' causes count as author."""
    cause = revision.cause
    is_accepted = cause.startswith(_ACCEPTED)
    by, found, why = cause.removeprefix(_ACCEPTED if is_accepted else _BY).partition(": ")
    is_ours = bool(found) and (is_accepted or cause.startswith(_BY))
    return Edit(
        version=revision.version,
        rules=rules_in(revision.value),
        by=by if is_ours else cause,
        why=why if is_ours and not is_accepted else "",
        at=revision.believed_from,
        proposal=why if is_ours and is_accepted else "",
    )


def key_of_case(agent: str, name: str) -> str:
    """
    Return the key of a case, escaped so that cases of two agents never share a key.

    >>> key_of_case("a", "b/c"), key_of_case("a/b", "c")
    ('a/b/c', 'a%2Fb/c')
    """
    return f"{agent.replace('%', '%25').replace('/', '%2F')}/{name}"


def case_write(agent: str, case: ScoringCase) -> PutMemory:
    """Return the write that stores a case of an agent."""
    return PutMemory(
        type=INSTRUCTIONS_CASE,
        key=key_of_case(agent, case.name),
        value={
            "agent": agent,
            "name": case.name,
            "input": case.input,
            "expected": case.expected,
            "required": case.required,
        },
        cause="case",
    )


def case_of(memory: Memory) -> ScoringCase | None:
    """Return the case in a memory; ``None`` if its value is not a case."""
    value = memory.value
    name, given, expected = (value.get(each) for each in ("name", "input", "expected"))
    if not isinstance(name, str) or not isinstance(given, str):
        return None
    return ScoringCase(
        name=name,
        input=given,
        expected=expected if isinstance(expected, str) else "",
        required=value.get("required") is True,
    )


def check_case(case: object) -> None:
    """
    Check that a case can be stored and read back.

    Raises:
        UsageError: It is not a case, or a field has a wrong type.
    """
    if not isinstance(case, ScoringCase) or not isinstance(case.required, bool):
        msg = f"{str(case)[:80]!r} is no ScoringCase, or its 'required' is neither True nor False"
        raise UsageError(msg)
    for name in ("name", "input", "expected"):
        check_text(getattr(case, name), f"the {name} of a case")


def check_case_names(cases: Sequence[ScoringCase]) -> None:
    """
    Check that there are cases, and no two with the same name.

    Raises:
        UsageError: There are none or too many, or two have the same name.
    """
    if not 1 <= len(cases) <= CASES_MAX:
        msg = f"{len(cases)} cases: give 1 to {CASES_MAX} (CASES_MAX) to compare prompts on"
        raise UsageError(msg)
    names = [case.name for case in cases]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"two cases are named {twice[0]!r}: give each a name of its own")


def proposal_value(agent: str, proposal: InstructionsProposal) -> JsonObject:
    """Return the value of a proposal's memory."""
    scores = proposal.scores
    return {
        "agent": agent,
        "base": proposal.base,
        "rules": list(proposal.rules),
        "changes": [
            {"kind": e.kind, "number": e.number, "rule": e.rule, "reason": e.reason}
            for e in proposal.changes
        ],
        "status": proposal.status,
        "by": proposal.by,
        "reason": proposal.reason,
        "scores": None
        if scores is None
        else {
            "old": scores.old,
            "new": scores.new,
            "by_case": {name: list(pair) for name, pair in scores.by_case.items()},
        },
    }


def proposal_of(memory: Memory) -> InstructionsProposal:
    """Return the proposal in a memory."""
    value = memory.value
    return InstructionsProposal(
        id=memory.key,
        base=_whole(value.get("base")),
        rules=rules_in(value),
        changes=tuple(_change_of(each) for each in _rows(value.get("changes"))),
        status=_status(value.get("status")),
        by=str(value.get("by", "")),
        at=memory.created_at,
        reason=str(value.get("reason", "")),
        scores=_scores_of(value.get("scores")),
    )


def _change_of(row: JsonObject) -> RuleChange:
    kind = row.get("kind")
    number = row.get("number")
    return RuleChange(
        kind="add" if kind == "add" else "remove" if kind == "remove" else "replace",
        number=number if isinstance(number, int) else None,
        rule=str(row.get("rule", "")),
        reason=str(row.get("reason", "")),
    )


def _scores_of(value: Json) -> Scores | None:
    if not isinstance(value, Mapping):
        return None
    by_case = value.get("by_case")
    pairs = by_case if isinstance(by_case, Mapping) else {}
    return Scores(
        old=_number(value.get("old")) or 0.0,
        new=_number(value.get("new")),
        by_case={
            name: (_number(pair[0]) or 0.0, _number(pair[1]))
            for name, pair in pairs.items()
            if is_list(pair) and len(pair) == 2
        },
    )


def _status(value: Json) -> ProposalStatus:
    if value == "waiting":
        return "waiting"
    if value == "accepted":
        return "accepted"
    return "unchanged" if value == "unchanged" else "refused"


def _rows(value: Json) -> list[JsonObject]:
    return [each for each in value if isinstance(each, Mapping)] if is_list(value) else []


def _whole(value: Json) -> int:
    return value if isinstance(value, int) else 0


def _number(value: Json) -> float | None:
    return float(value) if isinstance(value, int | float) else None
