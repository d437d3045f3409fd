"""`KnowledgeGraph`: the facts and entities of a scope as a graph."""

from __future__ import annotations

from recollect.graph.entity_methods import EntityMethods
from recollect.graph.fact_methods import FactMethods
from recollect.graph.queries import GraphQueries


class KnowledgeGraph(FactMethods, EntityMethods, GraphQueries):
    """
    The ``Fact`` and ``Entity`` memories of a scope as a graph of entities.

    Every method exists twice: ``add`` blocks, ``aadd`` is awaited (see `Home`). Each reads the
    current state; names are matched regardless of case, width, spacing and aliases. Facts have a
    period of validity: reads take *at*, the time in question, by default now.

    A change is one transaction, retried on concurrent writes.
    """
