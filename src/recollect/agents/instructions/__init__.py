"""
Instructions: an agent's rules, versioned, and improved from the outcomes of conversations.

`Instructions` stores them for an agent and for each user. A model can propose changes, which are
checked, compared on cases, and accepted or refused.
"""

from __future__ import annotations

from recollect.agents.instructions.instruction_records import (
    Edit,
    InstructionsProposal,
    OutcomeCounts,
    Prompt,
    Scores,
    ScoringCase,
    Trajectory,
)
from recollect.agents.instructions.prompt_outcomes import Outcomes
from recollect.agents.instructions.prompt_scores import Scorer
from recollect.agents.instructions.rule_changes import RuleChange
from recollect.formation.instruction_rules import INSTRUCTIONS_CHARACTERS_MAX, RULES_MAX

__all__ = [
    "INSTRUCTIONS_CHARACTERS_MAX",
    "RULES_MAX",
    "Edit",
    "Instructions",
    "InstructionsProposal",
    "OutcomeCounts",
    "Prompt",
    "RuleChange",
    "Scorer",
    "Scores",
    "ScoringCase",
    "Trajectory",
]


class Instructions(Outcomes):
    """
    The instructions of one agent, with an overlay for each user.

    They are stored as ``Instructions`` memories: the agent's own in *scope*, the overlay of a user
    in the user's scope. They are read whole, and recall never finds them. Every method exists
    twice: ``read`` blocks, ``aread`` is awaited.

    Args:
        agent: The name of the agent, the key of its documents. With the default, rules that
            formation takes from a user's requests form that user's overlay.
        model: The model that proposes changes, as for `recollect.open`.
        automatic: Apply a proposal at once if it breaks no rule (and, for `improve`, scores
            better); otherwise it waits for `accept`.
        fixed: Rules that come before all others. They are part of the program and not stored, so
            that no writer of the memory can change them.
        characters_max: The most characters of a document's rules, up to
            ``INSTRUCTIONS_CHARACTERS_MAX``.
    """
