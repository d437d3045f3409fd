"""Evidence of what an agent wrote by tools that ask for no words of a talk."""

from __future__ import annotations

from recollect.records import Evidence
from recollect.stores.contract.base import Store


def finding_of(store: Store, source: str) -> dict[str, tuple[Evidence, ...]]:
    """
    Return the evidence of a whole memory that the agent of a program found.

    It was made in no talk: *source*, the program, names its thread as well.
    """
    finding = Evidence(thread=source, message=store.new_name(), kind="agent", source=source)
    return {"": (finding,)}
