"""Proposed changes of instructions: request them from a model, compare, accept or refuse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from anyio import to_thread

from recollect.agents.instructions.instruction_records import (
    InstructionsProposal,
    Prompt,
    ProposalStatus,
    ScoringCase,
    Trajectory,
    case_of,
    case_write,
    cause_of,
    cause_of_proposal,
    check_case,
    check_case_names,
    proposal_of,
    proposal_value,
)
from recollect.agents.instructions.instruction_store import (
    CurrentInstructions,
    InstructionDocuments,
    check_not_anew,
    version_of,
)
from recollect.agents.instructions.prompt_scores import Scorer, compared, scores_of, verdict
from recollect.agents.instructions.reflection import changes_in, check_trajectories, request_of
from recollect.agents.instructions.rule_changes import (
    RuleChange,
    applied,
    check_changes,
    check_rules,
    recordable,
    rules_in,
)
from recollect.conversation.model_prompt import MemoryModel
from recollect.errors import NotFoundError, ProposalRefusedError, UsageError, VersionConflictError
from recollect.formation.instruction_rules import INSTRUCTIONS_CHARACTERS_MAX
from recollect.memory.facade import Recollect
from recollect.memory.pagination import each_memory
from recollect.observability.logs import kind_of, package_logger
from recollect.observability.spans import answer_of
from recollect.records import (
    INSTRUCTIONS,
    INSTRUCTIONS_CASE,
    INSTRUCTIONS_PROPOSAL,
    Evidence,
    EvidenceMap,
    JsonObject,
    Memory,
    PutMemory,
    Scope,
    ScopeLike,
)
from recollect.stores.provenance import NO_WORDS, Source, Words, grouped, words_of
from recollect.stores.validation import to_datetime
from recollect.sync.method_pairs import method_pair
from recollect.sync.object_home import AnyRecollect
from recollect.text.scope_paths import written_scope

LOG: Final = package_logger("recollect.agents.instructions")
REFLECTION: Final = "reflection"
_OUTDATED: Final = "the rules that it changes were changed meanwhile"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A model's changed version of a document, not stored yet."""

    proposal: InstructionsProposal
    evidence: EvidenceMap
    grounds: tuple[Evidence, ...]
    above: Sequence[str]
    """The agent's own rules, if they were shown for those of a user."""

    @property
    def repeats(self) -> bool:
        """Whether it may repeat what an erase named: messages, or a document's rules."""
        return bool(self.grounds or self.proposal.base or self.above)


class InstructionProposals(InstructionDocuments):
    """The proposals for the documents of one agent, and their life cycle."""

    def __init__(
        self,
        memory: AnyRecollect,
        scope: ScopeLike,
        agent: str = INSTRUCTIONS,
        *,
        model: object = None,
        automatic: bool = False,
        fixed: Sequence[str] = (),
        characters_max: int = INSTRUCTIONS_CHARACTERS_MAX,
    ) -> None:
        super().__init__(memory, scope, agent, fixed=fixed, characters_max=characters_max)
        self.automatic = automatic
        self._asking = MemoryModel(model, "model")

    async def _propose(
        self,
        memory: Recollect,
        trajectories: Sequence[Trajectory],
        *,
        user: Scope | None = None,
    ) -> InstructionsProposal:
        """
        Ask the model for changes, by one call, and store them as a proposal.

        The proposal waits for `accept`, unless this object is *automatic*: then it is applied.

        Raises:
            UsageError: *trajectories* is not a list of trajectories.
            ProposalRefusedError: The proposal touches a fixed rule, leaves no rule, or exceeds a
                limit; it is recorded as refused, and nothing was changed.
            ModelError: The model failed, or its answer cannot be parsed.
            VersionConflictError: The instructions were changed before the proposal was applied; it
                is recorded as refused.
            StaleReadError: Evidence of a trajectory, or something else in a scope of rules
                that the model was shown, was erased meanwhile; nothing is stored.
        """
        # From here on, a write fails if something is erased that the model may be shown.
        before = await self._guarded(memory, user)
        reading = await self._read_current(memory, user)
        draft = await self._request_draft(memory, trajectories, reading, user)
        kept = await self._store_draft(before if draft.repeats else memory, draft, user)
        if kept.status == "refused":
            raise ProposalRefusedError(kept.reason, kept.id)
        return await self._apply_if_automatic(memory, kept, user)

    propose, apropose = method_pair(_propose)

    async def _improve(
        self,
        memory: Recollect,
        trajectories: Sequence[Trajectory],
        scorer: Scorer,
        *,
        cases: Sequence[ScoringCase] | None = None,
        user: Scope | None = None,
    ) -> InstructionsProposal:
        """
        Ask the model for changes, score the old and the new prompt, and keep the better.

        A proposal that is not better, is worse on a required case, or breaks a rule is recorded as
        refused, with both scores (a prompt that breaks a rule is not run). A better one is applied
        if this object is *automatic*; otherwise it waits, with its scores.

        Args:
            scorer: Runs a prompt on a case, and scores the answer from 0 to 1.
            cases: The cases to run; those stored with `keep_cases` if ``None``.

        Raises:
            UsageError: There are no cases, the scorer's result is not a score, or *trajectories* is
                not a list of trajectories.
            ModelError: The model failed, or its answer cannot be parsed.
            VersionConflictError: The instructions were changed before the proposal was applied; it
                is recorded as refused.
            StaleReadError: Evidence was erased meanwhile, as for `propose`.
        """
        check_trajectories(trajectories)
        before = await self._guarded(memory, user)
        used = list(await self._cases(memory) if cases is None else cases)
        check_case_names(used)
        reading = await self._read_current(memory, user)
        old = await scores_of(reading.prompt.text, used, scorer)
        draft = await self._request_draft(memory, trajectories, reading, user)
        proposal = draft.proposal
        new = None
        if proposal.status == "waiting":
            after = _with_rules(reading.prompt, proposal.rules, user)
            new = await scores_of(after.text, used, scorer)
        scores = compared(old, new)
        if proposal.status == "waiting" and (reason := verdict(scores, used)):
            proposal = replace(proposal, status="refused", reason=reason)
        scored = replace(draft, proposal=replace(proposal, scores=scores))
        kept = await self._store_draft(before if draft.repeats else memory, scored, user)
        return await self._apply_if_automatic(memory, kept, user)

    improve, aimprove = method_pair(_improve)

    async def _accept(
        self, memory: Recollect, proposal: str, *, by: str, user: Scope | None = None
    ) -> InstructionsProposal:
        """
        Apply a pending proposal as the next version.

        Raises:
            NotFoundError: The id is unknown.
            UsageError: The proposal is not pending, its evidence was erased, or the instructions
                were deleted and written anew.
            ProposalRefusedError: It breaks a current limit or fixed rule; it stays pending.
            VersionConflictError: The instructions have changed since it was made.
        """
        waiting, found = await self._read_pending(memory, proposal, user)
        if not found.changes:
            msg = f"the evidence of the proposal {proposal!r} has been erased: refuse it"
            raise UsageError(msg)
        cause = cause_of_proposal(by, found.id)
        place = {at: rests for at, rests in waiting.evidence.items() if at.startswith("/rules")}
        stored = await self._read_stored(memory, user)
        check_not_anew(stored, waiting, found.base)
        kept = rules_in(stored.value) if stored else ()
        write = await self._checked_write(
            memory, found.rules, place, found.base, cause, user, stored=kept
        )
        accepted = replace(found, status="accepted", reason=f"accepted by {by}")
        await memory.apply(self._where(user), [write, self._rewrite(waiting, accepted)])
        return accepted

    accept, aaccept = method_pair(_accept)

    async def _refuse(
        self, memory: Recollect, proposal: str, *, by: str, why: str, user: Scope | None = None
    ) -> InstructionsProposal:
        """
        Refuse a pending proposal, which stays on record.

        Raises:
            NotFoundError: The id is unknown.
            UsageError: The proposal is not pending, or *by* or *why* is blank.
        """
        waiting, found = await self._read_pending(memory, proposal, user)
        cause_of(by, why)
        refused = replace(found, status="refused", reason=f"refused by {by}: {why}")
        await memory.apply(self._where(user), [self._rewrite(waiting, refused)])
        return refused

    refuse, arefuse = method_pair(_refuse)

    async def _proposals(
        self,
        memory: Recollect,
        *,
        status: ProposalStatus | None = None,
        user: Scope | None = None,
    ) -> tuple[InstructionsProposal, ...]:
        """Return the proposals for one document, oldest first, or only those of a *status*."""
        wanted: JsonObject = {"agent": self.agent, **({"status": status} if status else {})}
        where = self._where(user)
        found = each_memory(memory, where, INSTRUCTIONS_PROPOSAL, conditions=wanted)
        return tuple([proposal_of(each) async for each in found])

    proposals, aproposals = method_pair(_proposals)

    async def _keep_cases(self, memory: Recollect, cases: Sequence[ScoringCase]) -> None:
        """
        Store cases to compare prompts on; each replaces a stored case of the same name.

        Raises:
            UsageError: There are none, two have the same name, or one is not a `ScoringCase`.
        """
        for each in cases:
            check_case(each)
        check_case_names(cases)
        await memory.apply(self.scope, [case_write(self.agent, each) for each in cases])

    keep_cases, akeep_cases = method_pair(_keep_cases)

    async def _cases(self, memory: Recollect) -> tuple[ScoringCase, ...]:
        wanted: JsonObject = {"agent": self.agent}
        found = each_memory(memory, self.scope, INSTRUCTIONS_CASE, conditions=wanted)
        cases = [case_of(each) async for each in found]
        return tuple(each for each in cases if each is not None)

    cases, acases = method_pair(_cases)

    async def _apply_if_automatic(
        self, memory: Recollect, kept: InstructionsProposal, user: Scope | None
    ) -> InstructionsProposal:
        """Apply a pending proposal if automatic; refuse it if its base version is outdated."""
        if not (self.automatic and kept.status == "waiting"):
            return kept
        try:
            return await self._accept(memory, kept.id, by=REFLECTION, user=user)
        except VersionConflictError:
            # The conflicting write may be another decision on this very proposal: then
            # refusing it fails, and their decision stays.
            try:
                await self._refuse(memory, kept.id, by=REFLECTION, why=_OUTDATED, user=user)
            except (UsageError, VersionConflictError) as error:
                LOG.debug("proposal %s was decided concurrently: %s", kept.id, kind_of(error))
            raise

    async def _request_draft(
        self,
        memory: Recollect,
        trajectories: Sequence[Trajectory],
        reading: CurrentInstructions,
        user: Scope | None,
    ) -> _Draft:
        """Ask the model for changes, and apply them to a draft; refuse those that break a rule."""
        prompt, stored = reading.prompt, reading.stored
        rules = prompt.rules if user is None else prompt.user_rules
        agents = () if user is None else prompt.rules
        above = (*self.fixed, *agents)
        evidence = stored.evidence if stored and rules else {}
        answer = await answer_of(self._asking.model, request_of(above, rules, trajectories))
        changes = changes_in(answer)
        grounds = grouped([each for some in trajectories for each in some.evidence])
        proposal = InstructionsProposal(
            id=memory.store.new_name(),
            base=version_of(stored),
            rules=rules,
            changes=recordable(changes),
            status="waiting" if changes else "unchanged",
            by=REFLECTION,
            at=to_datetime(memory.store.now()),
        )
        if not changes:
            return _Draft(proposal=proposal, evidence=evidence, grounds=grounds, above=agents)
        try:
            after, evidence = await to_thread.run_sync(
                self._apply_changes, rules, evidence, changes, above, trajectories
            )
        except ProposalRefusedError as error:
            proposal = replace(proposal, status="refused", reason=error.reason)
        else:
            status: ProposalStatus = "unchanged" if after == tuple(rules) else "waiting"
            proposal = replace(proposal, rules=after, status=status)
        return _Draft(proposal=proposal, evidence=evidence, grounds=grounds, above=agents)

    def _apply_changes(
        self,
        rules: Sequence[str],
        evidence: EvidenceMap,
        changes: Sequence[RuleChange],
        above: Sequence[str],
        trajectories: Sequence[Trajectory],
    ) -> tuple[tuple[str, ...], EvidenceMap]:
        check_changes(changes)
        grounds = [Source(_words_of(each), each.evidence) for each in trajectories]
        after, rests = applied(rules, evidence, changes, fixed=above, grounds=grounds)
        check_rules(after, above, characters_max=self.characters_max, stored=rules)
        return after, rests

    async def _store_draft(
        self, memory: Recollect, draft: _Draft, user: Scope | None
    ) -> InstructionsProposal:
        """Store a proposal with the evidence of its rules, and of its changes' reasons."""
        proposal = draft.proposal
        rests = dict(draft.evidence)
        if draft.grounds:
            rests["/changes"] = rests["/reason"] = draft.grounds
        write = PutMemory(
            type=INSTRUCTIONS_PROPOSAL,
            key=proposal.id,
            value=proposal_value(self.agent, proposal),
            expected=0,
            evidence=rests,
            cause=proposal.status,
        )
        (kept,) = await memory.apply(self._where(user), [write])
        return proposal if kept is None else proposal_of(kept)

    async def _read_pending(
        self, memory: Recollect, proposal: str, user: Scope | None
    ) -> tuple[Memory, InstructionsProposal]:
        where = self._where(user)
        found = await memory.get(where, INSTRUCTIONS_PROPOSAL, proposal)
        if found is None or found.value.get("agent") != self.agent:
            raise NotFoundError(
                f"there is no proposal {proposal!r} for {self.agent!r} in {written_scope(where)}"
            )
        read = proposal_of(found)
        if read.status != "waiting":
            raise UsageError(
                f"the proposal {proposal!r} is {read.status} already: only a waiting one is decided"
            )
        return found, read

    def _rewrite(self, memory: Memory, proposal: InstructionsProposal) -> PutMemory:
        return PutMemory(
            type=INSTRUCTIONS_PROPOSAL,
            key=memory.key,
            value=proposal_value(self.agent, proposal),
            expected=memory.version,
            evidence=memory.evidence,
            cause=proposal.status,
        )


def _with_rules(prompt: Prompt, rules: tuple[str, ...], user: Scope | None) -> Prompt:
    if user is None:
        return replace(prompt, rules=rules)
    return replace(prompt, user_rules=rules)


def _words_of(trajectory: Trajectory) -> Words:
    return NO_WORDS.union(*(words_of(text) for _, text in trajectory.lines))
