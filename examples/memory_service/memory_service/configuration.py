"""What can be chosen for each run of the graphs, in LangGraph's `configurable`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

from langchain_core.runnables import RunnableConfig

from recollect.models import open_model
from recollect.ports import Model

_NO_LABEL = re.compile(r"[.%\x00-\x1f\x7f]")


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """
    How one user's talk is answered and remembered.

    What a run gives goes before the environment, so that no variable decides whose memory it is.
    """

    user_id: str | int = "default-user"
    namespace: Sequence[str] = ()
    """Where the memory of the user is; by default one label, of ``user_id``."""
    model: str = ""
    """What answers: ``provider/model``, or ``rules``; by default the environment's MEMORY_MODEL."""
    memory_model: str = ""
    """What forms memories: ``provider/model``; what the memory is configured with by default."""
    mem_assistant_id: str = "memory_graph"
    delay_seconds: float = 10.0
    """Memories are formed when nothing was said for so long."""
    memory_types: Sequence[Mapping[str, Any]] = ()
    """What is remembered; by default what the memory is configured with."""
    system_prompt: str = "You are a kind assistant. Answer in a few words."

    @property
    def place(self) -> tuple[str, ...]:
        """Where the memory of the user is, in LangGraph's store and below a scope of ours."""
        return tuple(self.namespace) or (label_of(self.user_id),)

    @classmethod
    def of(cls, config: RunnableConfig) -> Self:
        """Return the configuration of a run."""
        given = config.get("configurable") or {}
        names = {each.name for each in fields(cls)}
        empty = (None, "", [])
        return cls(
            **{name: each for name, each in given.items() if name in names and each not in empty}
        )


def label_of(user_id: str | int) -> str:
    """
    Return the label of a namespace that a user's id is, whatever its characters.

    LangGraph allows no period in it, and no scope has control characters: these and the percent
    sign are written as in an address, so that ``urllib.parse.unquote`` gives the id back.

    >>> label_of("ada@example.org"), label_of(7)
    ('ada@example%2Eorg', '7')
    """
    return _NO_LABEL.sub(lambda found: f"%{ord(found[0]):02X}", str(user_id))


def model_named(name: str) -> Model:
    """Return the model with a name; rules answer where none is to be had."""
    return open_model(name or os.environ.get("MEMORY_MODEL", "rules"))
