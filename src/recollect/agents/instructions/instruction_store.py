"""Instructions as they are kept: read, written, compared and rolled back."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from recollect.agents.instructions.instruction_records import (
    Edit,
    Prompt,
    cause_of,
    edit_of,
    proposal_of,
)
from recollect.agents.instructions.rule_changes import carried, check_rules, rules_in, rules_of
from recollect.errors import NotFoundError, UsageError, VersionConflictError
from recollect.formation.instruction_rules import INSTRUCTIONS_CHARACTERS_MAX
from recollect.memory.facade import Recollect
from recollect.records import (
    INSTRUCTIONS,
    INSTRUCTIONS_PROPOSAL,
    EvidenceMap,
    Memory,
    PutMemory,
    Scope,
)
from recollect.stores.validation import check_id, check_position, check_scope, check_texts
from recollect.sync.method_pairs import method_pair
from recollect.sync.object_home import AnyRecollect, Home

TRIES_MAX: Final = 8
"""So often rules are written anew because somebody else wrote meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentInstructions:
    """The prompt in force, and the document that a change of it would be the next version of."""

    prompt: Prompt
    standing: Memory | None


def in_force(standing: Memory | None) -> tuple[tuple[str, ...], int]:
    """Return the rules of a document and their version; none and 0 if it was rejected."""
    is_active = standing is not None and standing.state == "active"
    return (rules_of(standing), version_of(standing)) if is_active else ((), 0)


def version_of(standing: Memory | None) -> int:
    """Return the version that a document is at; 0 if there is none."""
    return standing.version if standing else 0


class Keeping:
    """The documents of one agent: its own, and one for each user whose scope is named."""

    def __init__(
        self,
        memory: AnyRecollect,
        scope: Scope,
        agent: str = INSTRUCTIONS,
        *,
        fixed: Sequence[str] = (),
        characters_max: int = INSTRUCTIONS_CHARACTERS_MAX,
    ) -> None:
        if not 1 <= check_position(characters_max, "characters_max") <= INSTRUCTIONS_CHARACTERS_MAX:
            msg = (
                f"characters_max={characters_max} is outside 1 to {INSTRUCTIONS_CHARACTERS_MAX} "
                "(INSTRUCTIONS_CHARACTERS_MAX)"
            )
            raise UsageError(msg)
        self.home = Home(memory)
        self.scope = check_scope(scope)
        self.agent = check_id(agent, "an agent")
        self.fixed = tuple(check_texts(fixed, "rule"))
        self.characters_max = characters_max
        if self.fixed:
            check_rules(self.fixed, characters_max=INSTRUCTIONS_CHARACTERS_MAX)

    async def _read(self, memory: Recollect, user: Scope | None = None) -> Prompt:
        """
        Return the instructions in force: the fixed rules, the agent's, and those of *user*.

        Raises:
            UsageError: What is kept breaks a limit of rules; something else than this wrote it.
        """
        return (await self._reading(memory, user)).prompt

    read, aread = method_pair(_read)

    async def _write(
        self,
        memory: Recollect,
        rules: Sequence[str],
        *,
        by: str,
        why: str,
        user: Scope | None = None,
        expected: int | None = None,
    ) -> Edit:
        """
        Write the rules of the agent, or those for one *user*, as their next version.

        Args:
            by: Who changes them. *why*: the reason; both stand in the history.
            expected: The version that was read, 0 if there was none; ``None`` for any, tried anew
                where others write meanwhile.

        Raises:
            ProposalRefusedError: The rules break a limit; nothing was changed.
            UsageError: *by* or *why* says nothing, or *rules* is no list of texts.
            VersionConflictError: They are at another version than *expected*; or others kept
                writing them, ``TRIES_MAX`` times.
        """
        rules = check_texts(rules, "rule")
        cause = cause_of(by, why)
        tries = 0
        while True:
            tries += 1
            standing = await self._standing(memory, user)
            old = rules_in(standing.value) if standing else ()
            evidence = carried(rules, old, standing.evidence) if standing else {}
            at = version_of(standing) if expected is None else expected
            write = await self._checked(memory, rules, evidence, at, cause, user)
            try:
                return await self._put(memory, write, user)
            except VersionConflictError:
                if expected is not None or tries == TRIES_MAX:
                    raise

    write, awrite = method_pair(_write)

    async def _history(self, memory: Recollect, user: Scope | None = None) -> tuple[Edit, ...]:
        """Return all versions, oldest first, with who wrote them and why."""
        where = self._where(user)
        revisions = await memory.history(where, INSTRUCTIONS, self.agent)
        edits = [edit_of(each) for each in revisions]
        ids = sorted({each.proposal for each in edits if each.proposal})
        kept = await memory.store.get_many(where, [(INSTRUCTIONS_PROPOSAL, id_) for id_ in ids])
        why = {each.key: proposal_of(each).why for each in kept if each is not None}
        return tuple(
            replace(each, why=why.get(each.proposal, "")) if each.proposal else each
            for each in edits
        )

    history, ahistory = method_pair(_history)

    async def _diff(
        self, memory: Recollect, one: int, other: int, *, user: Scope | None = None
    ) -> str:
        """
        Return what changed from version *one* to *other*, as a unified diff; ``""`` for nothing.

        Raises:
            NotFoundError: There is no such version.
        """
        edits = {each.version: each for each in await self._history(memory, user)}
        before, after = (self._edit(edits, version) for version in (one, other))
        lines = difflib.unified_diff(
            before.rules, after.rules, f"version {one}", f"version {other}", lineterm=""
        )
        return "\n".join(lines)

    diff, adiff = method_pair(_diff)

    async def _roll_back(
        self,
        memory: Recollect,
        version: int,
        *,
        by: str,
        why: str,
        user: Scope | None = None,
    ) -> Edit:
        """
        Put the rules of an older version in force again, as the next version.

        Raises:
            NotFoundError: There is no such version.
            ProposalRefusedError: They break a rule that holds by now.
            VersionConflictError: Somebody wrote meanwhile.
        """
        where = self._where(user)
        revisions = await memory.history(where, INSTRUCTIONS, self.agent)
        past = {each.version: each for each in revisions}
        self._edit({number: edit_of(each) for number, each in past.items()}, version)
        rules, cause = rules_in(past[version].value), cause_of(by, why)
        newest = max(past)
        write = await self._checked(memory, rules, past[version].evidence, newest, cause, user)
        return await self._put(memory, write, user)

    roll_back, aroll_back = method_pair(_roll_back)

    def _edit(self, edits: dict[int, Edit], version: int) -> Edit:
        if version not in edits:
            there = ", ".join(map(str, edits)) or "none"
            msg = f"{self.agent!r} has no version {version}; it has {there}"
            raise NotFoundError(msg)
        return edits[version]

    async def _above(self, memory: Recollect, user: Scope | None) -> tuple[str, ...]:
        """Return the rules that may not be changed where *user*'s, or the agent's, are."""
        if user is None:
            return self.fixed
        return (*self.fixed, *in_force(await self._standing(memory, None))[0])

    async def _checked(  # noqa: PLR0917 (what a version is made of)
        self,
        memory: Recollect,
        rules: Sequence[str],
        evidence: EvidenceMap,
        expected: int,
        cause: str,
        user: Scope | None,
        *,
        standing: Sequence[str] = (),
    ) -> PutMemory:
        """Return the write of a version whose rules break no limit."""
        above = await self._above(memory, user)
        check_rules(rules, above, characters_max=self.characters_max, standing=standing)
        return PutMemory(
            type=INSTRUCTIONS,
            key=self.agent,
            value={"rules": list(rules)},
            expected=expected,
            evidence=evidence,
            cause=cause,
        )

    async def _put(self, memory: Recollect, write: PutMemory, user: Scope | None) -> Edit:
        """Write a version; return it, and not what others wrote after it."""
        where = self._where(user)
        (kept,) = await memory.apply(where, [write])
        edits = await self._history(memory, user)
        return next(each for each in edits if each.version == version_of(kept))

    async def _reading(self, memory: Recollect, user: Scope | None) -> CurrentInstructions:
        own = await self._standing(memory, None)
        theirs = await self._standing(memory, user) if user is not None else None
        (rules, version), (user_rules, user_version) = in_force(own), in_force(theirs)
        prompt = Prompt(
            fixed=self.fixed,
            rules=rules,
            user_rules=user_rules,
            version=version,
            user_version=user_version,
        )
        return CurrentInstructions(prompt=prompt, standing=own if user is None else theirs)

    async def _standing(self, memory: Recollect, user: Scope | None) -> Memory | None:
        """Return a document in whatever state it is: the next version follows this one."""
        return await memory.get(self._where(user), INSTRUCTIONS, self.agent)

    def _where(self, user: Scope | None) -> Scope:
        if user is None:
            return self.scope
        checked = check_scope(user)
        if checked == self.scope:
            msg = f"{user!r} is the agent's own scope: leave user out, or name another scope"
            raise UsageError(msg)
        return checked
