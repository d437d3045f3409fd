"""`KnowledgeGraph`: the facts and entities of a scope as a graph."""

from __future__ import annotations

from recollect.graph.entities import EntityMethods
from recollect.graph.fact_writes import Stating
from recollect.graph.queries import GraphQueries


class KnowledgeGraph(Stating, EntityMethods, GraphQueries):
    """
    The ``Fact`` and ``Entity`` memories of a scope as a graph of entities.

    Every method is there twice: ``add`` waits, ``aadd`` is awaited (see `Home` for which of
    them a memory has). Each reads what is stored at that moment; names are matched across
    case, width, spacing and aliases. Facts are followed by time: reads take *at*, the moment
    asked about, and mean now without it.

    A change is one transaction, decided anew when somebody else wrote meanwhile.
    """
