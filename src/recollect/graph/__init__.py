"""
The knowledge graph: the ``Fact`` and ``Entity`` memories of a scope as a graph.

`KnowledgeGraph` has all operations. Which names mean one entity is decided at reading, by
`aliases`; nothing is merged in the store, where `entity_plans` writes an entity's own list of them.
`EntityGraph` replaces LangChain's ``NetworkxEntityGraph``;
`parse_triples` and `get_entities` parse a model's answers.
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
