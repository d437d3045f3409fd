"""Evidence of memories that an agent writes through a tool, without quoting a conversation."""

from __future__ import annotations

from recollect.records import Evidence
from recollect.stores.contract.base import Store


def finding_of(store: Store, source: str) -> dict[str, tuple[Evidence, ...]]:
    """
    Return evidence that marks a whole memory as a finding of the agent of program *source*.

    The finding belongs to no conversation, so *source* is also the name of its thread.
    """
    finding = Evidence(thread=source, message=store.new_name(), kind="agent", source=source)
    return {"": (finding,)}
