"""The stored summary of a thread: its text, and the last position that it covers."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.conversation.document_sources import said_in, trust_of, versions_before
from recollect.conversation.thread_history import Placed, ThreadMessages
from recollect.memory.facade import Recollect
from recollect.memory.thread_summary import SUMMARY_TYPE, ThreadSummary, key_of, summary_in
from recollect.records import DeleteMemory, EvidenceMap, PutMemory, Scope
from recollect.stores.provenance import grouped
from recollect.stores.validation import to_datetime


class KeptSummary:
    """
    The one stored summary of a thread.

    Each version cites the messages added to it, and earlier versions: erasing a message erases
    every summary that covers it, as its words cannot be separated out.
    """

    def __init__(self, scope: Scope, thread: str, policy: str) -> None:
        self.scope = scope
        self.thread = thread
        self.key = key_of(policy, thread)

    async def read(self, memory: Recollect) -> ThreadSummary:
        """Return the current version."""
        kept = await memory.get(self.scope, SUMMARY_TYPE, self.key)
        return summary_in(kept, to_datetime(memory.store.now()))

    async def write(
        self, memory: Recollect, before: ThreadSummary, content: str, worked_in: Sequence[Placed]
    ) -> ThreadSummary:
        """
        Write the version after *before*, which covers *worked_in* as well, and return it.

        Raises:
            VersionConflictError: Another writer changed or erased it since *before* was read.
        """
        until = max([before.until, *(each.position for each in worked_in)])
        # Nothing can be derived from a version that a person rejected, or has not approved yet:
        # begin without it.
        version = 0 if before.is_withheld else before.version
        put = PutMemory(
            type=SUMMARY_TYPE,
            key=self.key,
            value={"content": content, "until": until},
            text=content,
            expected=version,
            evidence=self._evidence(version, worked_in),
            trust=trust_of(worked_in),
            cause=f"summarised up to message {until}",
        )
        removal = DeleteMemory(type=SUMMARY_TYPE, key=self.key, expected=before.version)
        *_, kept = await memory.apply(self.scope, [removal, put] if before.is_withheld else [put])
        return ThreadSummary(
            content=content, until=until, version=kept.version if kept else version + 1
        )

    async def remove(self, memory: Recollect) -> None:
        """Delete the summary with all its versions."""
        await memory.apply(self.scope, [DeleteMemory(type=SUMMARY_TYPE, key=self.key)])

    async def check(
        self, memory: Recollect, talk: ThreadMessages, worked_in: Sequence[Placed]
    ) -> bool:
        """
        Return True if *worked_in* still exist; if not, delete the summary and return False.

        A model takes seconds: a removal between reading the messages and writing their summary
        must win. An erase is noticed by the write itself (`guarded`).
        """
        before, count = worked_in[0].position - 1, len(worked_in)
        there = await talk.after(memory, before, limit=count)
        if [each.position for each in there] == [each.position for each in worked_in]:
            return True
        await self.remove(memory)
        return False

    def _evidence(self, version: int, worked_in: Sequence[Placed]) -> EvidenceMap:
        back = versions_before(SUMMARY_TYPE, self.key, version)
        found = {"": back, "/content": grouped(said_in(self.thread, worked_in))}
        return {pointer: each for pointer, each in found.items() if each}
