"""
Trust of the cited passages: whose words an operation rests on, and whether they are orders.

What a user chose or took up counts as theirs; what others wrote is no order to anybody here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, get_args

from recollect.formation.grounding.injection import instructs
from recollect.formation.operations import Operation
from recollect.formation.support import HeardWindow
from recollect.formation.support.authorship import told_passages
from recollect.formation.support.cited_passages import Passage
from recollect.formation.support.leaves import is_label, numbers_of, texts_of
from recollect.formation.support.unasked_words import are_chosen, are_own
from recollect.records import Trust

_TRUST: Final[tuple[Trust, ...]] = get_args(Trust)


def least(trusts: Sequence[Trust]) -> Trust:
    """Return the least trust of all; ``user`` of none."""
    return max(trusts, key=_TRUST.index, default="user")


def trust_of(operation: Operation, passages: Sequence[Passage], heard: HeardWindow) -> Trust:
    """
    Return the trust of the least trusted of *passages*.

    What a user chose from a list of the assistant's is the user's, if nothing else of it is told.
    What others wrote, cited beside the user's words, counts only for what it adds to them.
    """
    trust = least([each.trust for each in passages])
    own = [each for each in passages if each.trust == "user" and not each.citation.implied]
    if trust == "external" and own:
        texts = texts_of(operation, heard)
        is_own = not any(numbers_of(operation)) and bool(texts) and are_own(texts, own, heard)
        return "user" if is_own else trust
    chosen = [each for each in passages if each.trust == "user" and each.taken_up.is_choice]
    if trust != "assistant" or not chosen:
        return trust
    texts = texts_of(operation, heard)
    is_chosen = bool(texts) and not any(numbers_of(operation)) and are_chosen(texts)
    return "user" if is_chosen else trust


def is_attributed(operation: Operation, heard: HeardWindow) -> bool:
    """Return True if each text that rests on words of others, which a user shows, tells whose."""
    texts = [each for each in texts_of(operation, heard) if not each.is_label]
    others = [e for e in texts if any(cited.trust == "external" for cited in e.sources.cited)]
    return bool(others) and all(told_passages(each, heard) for each in others)


def rests_on_order(operation: Operation, passages: Sequence[Passage], heard: HeardWindow) -> bool:
    """Return True if words of others among *passages* give an order that no user took up."""
    orders = [each for each in passages if each.instructs and not _is_harmless(each)]
    return bool(orders) and not _is_taken_up(operation, orders, passages, heard)


def _is_harmless(passage: Passage) -> bool:
    """Return True for users' words, and for those looked up for the words of a label."""
    citation = passage.citation
    return passage.trust == "user" or (citation.implied and is_label(citation.path or ""))


def _is_taken_up(
    operation: Operation,
    orders: Sequence[Passage],
    passages: Sequence[Passage],
    heard: HeardWindow,
) -> bool:
    """
    Return True if users tell what a text that they show orders people to do, and order nothing.

    "So I go to that check-up", of a notice by which all have to send their papers: the value cites
    the user's own words behind it, and is no order itself.
    """
    shown_last = max(each.line.number for each in orders)
    is_answered = any(
        each.trust == "user" and not each.citation.implied and each.line.number > shown_last
        for each in passages
    )
    is_shown = all(each.line.message.role == "user" for each in orders)
    is_order = any(instructs(each.text) for each in texts_of(operation, heard))
    return is_answered and is_shown and not is_order
