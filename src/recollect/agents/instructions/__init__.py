"""
Instructions: the rules that an agent works by, improved from how its talks went.

`Instructions` keeps them with their versions, for an agent and for each user; a model may
propose changes, which are checked, compared on cases, and accepted or refused.
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
    The instructions of one agent, and an overlay of them for each user.

    They are ``Instructions`` memories, one per agent: at *scope* the agent's own, at a *user*'s
    scope what is added for that user. They are read whole, and recall never finds them. Every
    method is there twice: ``read`` waits, ``aread`` is awaited.

    Args:
        agent: Whose instructions: the key of the document. With the default, the rules that
            formation takes from what a user asks for are that user's overlay.
        model: What proposes changes: as for `recollect.open`.
        automatic: Whether a proposal that breaks no rule (and, by `improve`, is the better one)
            is put in force at once; without, it waits for `accept`.
        fixed: Rules that come before all others. They are kept by the program, not by the
            memory, so that nothing which writes to a memory can change them.
        characters_max: Most characters of a document's rules, up to
            ``INSTRUCTIONS_CHARACTERS_MAX``.
    """
