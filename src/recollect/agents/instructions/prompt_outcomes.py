"""Record the outcomes of prompts, and count them by the versions in use."""

from __future__ import annotations

from collections import defaultdict

from recollect.agents.examples.example_values import check_score
from recollect.agents.instructions.instruction_records import OutcomeCounts, Prompt, Success
from recollect.agents.instructions.proposals import InstructionProposals
from recollect.errors import UsageError
from recollect.memory.facade import Recollect
from recollect.memory.pagination import each_memory
from recollect.records import INSTRUCTIONS_OUTCOME, JsonObject, Memory, PutMemory, Scope
from recollect.sync.method_pairs import method_pair


class Outcomes(InstructionProposals):
    """The recorded outcomes of one agent's prompts."""

    async def _record(
        self,
        memory: Recollect,
        prompt: Prompt,
        outcome: Success,
        *,
        score: float | None = None,
        note: str = "",
        user: Scope | None = None,
    ) -> None:
        """
        Record the outcome of a conversation that used *prompt*, as `read` returned it.

        Raises:
            UsageError: *outcome* is neither ``"success"`` nor ``"failure"``, or *score* is not
                from 0 to 1.
        """
        if outcome not in {"success", "failure"}:
            raise UsageError(f"outcome is {outcome!r}: give 'success' or 'failure'")
        check_score(score)
        value: JsonObject = {
            "agent": self.agent,
            "version": prompt.version,
            "user_version": prompt.user_version,
            "outcome": outcome,
            "score": score,
            "note": note,
        }
        key = memory.store.new_name()
        write = PutMemory(type=INSTRUCTIONS_OUTCOME, key=key, value=value, cause=outcome)
        await memory.apply(self._where(user), [write])

    record, arecord = method_pair(_record)

    async def _outcomes(
        self, memory: Recollect, user: Scope | None = None
    ) -> tuple[OutcomeCounts, ...]:
        """Return the outcomes by pair of versions, in order."""
        wanted: JsonObject = {"agent": self.agent}
        where = self._where(user)
        by_version: dict[tuple[int, int], list[Memory]] = defaultdict(list)
        async for each in each_memory(memory, where, INSTRUCTIONS_OUTCOME, conditions=wanted):
            version, theirs = each.value.get("version"), each.value.get("user_version")
            if isinstance(version, int) and isinstance(theirs, int):
                by_version[version, theirs].append(each)
        return tuple(_tally(*at, found) for at, found in sorted(by_version.items()))

    outcomes, aoutcomes = method_pair(_outcomes)


def _tally(version: int, user_version: int, found: list[Memory]) -> OutcomeCounts:
    said = [each.value.get("outcome") for each in found]
    given = [each.value.get("score") for each in found]
    scores = [float(each) for each in given if isinstance(each, int | float)]
    return OutcomeCounts(
        version=version,
        user_version=user_version,
        successes=said.count("success"),
        failures=said.count("failure"),
        mean_score=sum(scores) / len(scores) if scores else None,
    )
