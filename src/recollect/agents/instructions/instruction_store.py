"""Read, write, compare and roll back versions of an agent's instructions."""

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
from recollect.errors import NotFoundError, UsageError
from recollect.formation.instruction_rules import INSTRUCTIONS_CHARACTERS_MAX
from recollect.memory.conflict_retries import decided_unerased, retried
from recollect.memory.erasure_guard import guarded
from recollect.memory.facade import Recollect
from recollect.records import (
    INSTRUCTIONS,
    INSTRUCTIONS_PROPOSAL,
    EvidenceMap,
    Memory,
    PutMemory,
    Scope,
    ScopeLike,
)
from recollect.stores.contract.base import Store
from recollect.stores.validation import check_id, check_position, check_scope, check_texts
from recollect.sync.method_pairs import method_pair
from recollect.sync.object_home import AnyRecollect, Home
from recollect.text.scope_paths import written_scope

TRIES_MAX: Final = 8
"""Attempts to write rules when concurrent writers come first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentInstructions:
    """The current prompt, and the stored document that a change would update."""

    prompt: Prompt
    stored: Memory | None


def in_force(stored: Memory | None) -> tuple[tuple[str, ...], int]:
    """Return the rules and version of a document; none and 0 if there is none or not active."""
    is_active = stored is not None and stored.state == "active"
    return (rules_of(stored), version_of(stored)) if is_active else ((), 0)


def version_of(stored: Memory | None) -> int:
    """Return the version of a document; 0 if there is none."""
    return stored.version if stored else 0


def check_not_anew(stored: Memory | None, proposal: Memory, base: int) -> None:
    """
    Check that *stored* is the document for whose version *base* a proposal was made.

    Versions count from 1 again in a document that was deleted and written anew.

    Raises:
        UsageError: It is another one, written since the proposal.
    """
    if base and stored is not None and stored.created_at > proposal.created_at:
        raise UsageError(
            f"the instructions {stored.key!r} of {written_scope(stored.scope)} were deleted and "
            f"written anew since the proposal {proposal.key!r}: refuse it, and propose again"
        )


class InstructionDocuments:
    """The documents of one agent: its own, and an overlay for each user's scope."""

    def __init__(
        self,
        memory: AnyRecollect,
        scope: ScopeLike,
        agent: str = INSTRUCTIONS,
        *,
        fixed: Sequence[str] = (),
        characters_max: int = INSTRUCTIONS_CHARACTERS_MAX,
    ) -> None:
        if not 1 <= check_position(characters_max, "characters_max") <= INSTRUCTIONS_CHARACTERS_MAX:
            raise UsageError(
                f"characters_max={characters_max} is outside 1 to {INSTRUCTIONS_CHARACTERS_MAX} "
                "(INSTRUCTIONS_CHARACTERS_MAX)"
            )
        self.home = Home(memory)
        self.scope = check_scope(scope)
        self.agent = check_id(agent, "an agent")
        self.fixed = tuple(check_texts(fixed, "rule"))
        self.characters_max = characters_max
        if self.fixed:
            check_rules(self.fixed, characters_max=INSTRUCTIONS_CHARACTERS_MAX)

    async def _read(self, memory: Recollect, user: Scope | None = None) -> Prompt:
        """
        Return the current instructions: the fixed rules, the agent's, and those of *user*.

        Raises:
            UsageError: The stored rules break a limit, so another program wrote them.
        """
        return (await self._read_current(memory, user)).prompt

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
        Write the rules of the agent, or the overlay of a *user*, as the next version.

        Args:
            by: The author. *why*: the reason; both are recorded in the history.
            expected: The version that was read, 0 if there was none; ``None`` for any, retried on
                concurrent writes.

        Raises:
            ProposalRefusedError: The rules break a limit; nothing was changed.
            UsageError: *by* or *why* is blank, or *rules* is not a list of texts.
            VersionConflictError: The instructions are not at version *expected*, or concurrent
                writes won ``TRIES_MAX`` times.
        """
        rules = check_texts(rules, "rule")
        cause = cause_of(by, why)

        async def attempt() -> Edit:
            stored = await self._read_stored(memory, user)
            old = rules_in(stored.value) if stored else ()
            evidence = carried(rules, old, stored.evidence) if stored else {}
            at = version_of(stored) if expected is None else expected
            write = await self._checked_write(memory, rules, evidence, at, cause, user)
            return await self._put(memory, write, user)

        return await retried(attempt, TRIES_MAX if expected is None else 1)

    write, awrite = method_pair(_write)

    async def _history(self, memory: Recollect, user: Scope | None = None) -> tuple[Edit, ...]:
        """Return all versions, oldest first, with their authors and reasons."""
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
        Return a unified diff of versions *one* and *other*; ``""`` if they are equal.

        Raises:
            NotFoundError: The version does not exist.
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
        Write the rules of an older version as the next version.

        Raises:
            NotFoundError: The version does not exist.
            ProposalRefusedError: The old rules break a current limit or fixed rule.
            VersionConflictError: The instructions were changed concurrently.
        """
        where, cause = self._where(user), cause_of(by, why)

        async def put_back(store: Store) -> Edit:
            unerased = memory.over(store)
            revisions = await unerased.history(where, INSTRUCTIONS, self.agent)
            past = {each.version: each for each in revisions}
            self._edit({number: edit_of(each) for number, each in past.items()}, version)
            rules, evidence = rules_in(past[version].value), past[version].evidence
            write = await self._checked_write(unerased, rules, evidence, max(past), cause, user)
            return await self._put(unerased, write, user)

        return await decided_unerased(memory.store, where, put_back)

    roll_back, aroll_back = method_pair(_roll_back)

    def _edit(self, edits: dict[int, Edit], version: int) -> Edit:
        if version not in edits:
            there = ", ".join(map(str, edits)) or "none"
            msg = f"the instructions of {self.agent!r} have no version {version}; they have {there}"
            raise NotFoundError(msg)
        return edits[version]

    async def _rules_above(self, memory: Recollect, user: Scope | None) -> tuple[str, ...]:
        """Return the rules that a change may not touch: the fixed, and for a *user* the agent's."""
        if user is None:
            return self.fixed
        return (*self.fixed, *in_force(await self._read_stored(memory, None))[0])

    async def _checked_write(  # noqa: PLR0917 (the parts of a version)
        self,
        memory: Recollect,
        rules: Sequence[str],
        evidence: EvidenceMap,
        expected: int,
        cause: str,
        user: Scope | None,
        *,
        stored: Sequence[str] = (),
    ) -> PutMemory:
        """Check *rules* against the limits, and return the write of their version."""
        above = await self._rules_above(memory, user)
        check_rules(rules, above, characters_max=self.characters_max, stored=stored)
        return PutMemory(
            type=INSTRUCTIONS,
            key=self.agent,
            value={"rules": list(rules)},
            expected=expected,
            evidence=evidence,
            cause=cause,
        )

    async def _put(self, memory: Recollect, write: PutMemory, user: Scope | None) -> Edit:
        """Write a version and return it, even if another writer has added a later one."""
        where = self._where(user)
        (kept,) = await memory.apply(where, [write])
        edits = await self._history(memory, user)
        return next(each for each in edits if each.version == version_of(kept))

    async def _read_current(self, memory: Recollect, user: Scope | None) -> CurrentInstructions:
        own = await self._read_stored(memory, None)
        theirs = await self._read_stored(memory, user) if user is not None else None
        (rules, version), (user_rules, user_version) = in_force(own), in_force(theirs)
        prompt = Prompt(
            fixed=self.fixed,
            rules=rules,
            user_rules=user_rules,
            version=version,
            user_version=user_version,
        )
        return CurrentInstructions(prompt=prompt, stored=own if user is None else theirs)

    async def _read_stored(self, memory: Recollect, user: Scope | None) -> Memory | None:
        """Return a document in any state, as the next version must follow it."""
        return await memory.get(self._where(user), INSTRUCTIONS, self.agent)

    async def _guarded(self, memory: Recollect, user: Scope | None) -> Recollect:
        """Return a view that refuses writes after an erase in a scope whose rules are shown."""
        own = await guarded(memory, self.scope)
        return own if user is None else await guarded(own, self._where(user))

    def _where(self, user: Scope | None) -> Scope:
        if user is None:
            return self.scope
        checked = check_scope(user)
        if checked == self.scope:
            msg = f"user={user!r} is the agent's own scope: omit it, or name the user's scope"
            raise UsageError(msg)
        return checked
