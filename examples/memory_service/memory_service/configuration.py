"""What can be chosen for each run of the graphs, in LangGraph's `configurable`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

from langchain_core.runnables import RunnableConfig

from recollect.models import open_model
from recollect.ports import Model
from recollect.testing.rulemodel import RuleModel

RULES = "rules"


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """
    How one user's talk is answered and remembered.

    What a run gives goes before the environment, so that no variable decides whose memory it is.
    """

    user_id: str = "default-user"
    model: str = ""
    """``provider/model``, or ``rules``; by default ``MEMORY_MODEL`` of the environment."""
    mem_assistant_id: str = "memory_graph"
    delay_seconds: float = 10.0
    """Memories are formed when nothing was said for so long."""
    memory_types: Sequence[Mapping[str, Any]] = ()
    """What is remembered; by default what the memory is configured with."""
    system_prompt: str = "You are a kind assistant. Answer in a few words."

    @classmethod
    def of(cls, config: RunnableConfig) -> Self:
        """Return the configuration of a run."""
        given = config.get("configurable") or {}
        names = {each.name for each in fields(cls)}
        empty = (None, "", [])
        return cls(
            **{name: each for name, each in given.items() if name in names and each not in empty}
        )


def model_named(name: str) -> Model:
    """Return the model with a name; rules answer where none is to be had."""
    chosen = name or os.environ.get("MEMORY_MODEL", RULES)
    return RuleModel() if chosen == RULES else open_model(chosen)
