"""
The knowledge graph: the ``Fact`` and ``Entity`` memories of a scope as a graph.

`KnowledgeGraph` is the whole of it; `EntityGraph` takes the place of LangChain's
``NetworkxEntityGraph``, with `parse_triples` and `get_entities`, which read what a model says.
"""

from recollect.graph.entity_graph import EntityGraph
from recollect.graph.knowledge import KnowledgeGraph
from recollect.graph.triples import (
    KG_TRIPLE_DELIMITER,
    KnowledgeTriple,
    get_entities,
    parse_triples,
)
from recollect.graph.values import Addition, Entity, GraphFact, NewFact, Value

__all__ = [
    "KG_TRIPLE_DELIMITER",
    "Addition",
    "Entity",
    "EntityGraph",
    "GraphFact",
    "KnowledgeGraph",
    "KnowledgeTriple",
    "NewFact",
    "Value",
    "get_entities",
    "parse_triples",
]
