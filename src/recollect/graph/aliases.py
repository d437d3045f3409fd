"""Resolve names to entities by the aliases of ``Entity`` memories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Aliases:
    """
    Maps each alias to its entity's key, and back.

    Nothing is merged: an alias removed from its memory is a separate name again. An alias claimed
    by two different entities belongs to neither.
    """

    canonical: Mapping[str, str]
    members: Mapping[str, frozenset[str]]

    def key_of(self, key: str) -> str:
        """Return the key of the entity that the name *key* means."""
        return self.canonical.get(key, key)

    def names_of(self, key: str) -> frozenset[str]:
        """Return the keys of all names of the entity *key*, its own included."""
        return self.members.get(key, frozenset((key,)))


def aliases_of(claims: Iterable[tuple[str, Iterable[str]]]) -> Aliases:
    """
    Return the aliases of all entities.

    Args:
        claims: The key of each entity's own name and those of its aliases, oldest first.

    >>> found = aliases_of([("robert", ["bob", "sam"]), ("samuel", ["sam"]), ("bob", ["bobby"])])
    >>> found.key_of("bobby"), found.key_of("sam"), sorted(found.names_of("robert"))
    ('robert', 'sam', ['bob', 'bobby', 'robert'])
    """
    order: dict[str, int] = {}
    claimants: dict[str, set[str]] = {}
    for name, aliases in claims:
        order.setdefault(name, len(order))
        for alias in aliases:
            if alias != name:
                claimants.setdefault(alias, set()).add(name)
    parents = {alias: next(iter(names)) for alias, names in claimants.items() if len(names) == 1}
    # Claims of several names do not conflict if these are names of one entity.
    for alias, names in claimants.items():
        roots = {_root(parents, name, order) for name in names}
        if len(names) > 1 and len(roots) == 1 and alias not in roots:
            parents[alias] = roots.pop()
    canonical = {alias: _root(parents, alias, order) for alias in parents}
    members: dict[str, set[str]] = {}
    for alias, root in canonical.items():
        members.setdefault(root, {root}).add(alias)
    return Aliases(
        {alias: root for alias, root in canonical.items() if alias != root},
        {root: frozenset(names) for root, names in members.items()},
    )


def _root(parents: Mapping[str, str], key: str, order: Mapping[str, int]) -> str:
    """Follow *key* to its entity's name; in a cycle of aliases, to the oldest name."""
    seen: dict[str, None] = {}
    while key in parents and key not in seen:
        seen[key] = None
        key = parents[key]
    if key not in seen:
        return key
    names = list(seen)
    return min(names[names.index(key) :], key=lambda name: (order.get(name, len(order)), name))
