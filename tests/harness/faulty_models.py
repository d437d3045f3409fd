"""Models that spoil what an `Oracle` knows, each in its own way: measures have to tell them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeGuard

from recollect.formation.citations import cited_words
from recollect.formation.tool_names import PATCH
from recollect.records import Json, JsonObject
from recollect.stores.json_pointers import is_list, join_pointer
from recollect.testing.oracle import Called, Oracle, ParsedRequest, Said, ShownMemory


class Forgetful(Oracle):
    """A bad model: it remembers every other thing only."""

    def called(self, shown: ParsedRequest) -> list[Called]:
        """Return the calls for every other deed, beginning with the second."""
        return Oracle(self.deeds[1::2]).called(shown)


class OverInserting(Oracle):
    """A bad model: it makes a new entry of every sentence, known or not."""

    def called(self, shown: ParsedRequest) -> list[Called]:
        """Return the right calls, and one more for each collection and new message."""
        calls = super().called(shown)
        for name, parameters in shown.tools.items():
            fields = _collection_fields(parameters)
            for said in _users(shown) if fields else ():
                value: dict[str, Json] = dict.fromkeys(fields, said.text)
                because: list[Json] = [cited_words(said.number, said.text)]
                calls.append((name, {"value": value, "because": because}))
        return calls


class OverUpdating(Oracle):
    """A bad model: it writes what is new over whatever is known."""

    def called(self, shown: ParsedRequest) -> list[Called]:
        """Return a patch of every known memory: its first text becomes what was said last."""
        said = _users(shown)[-1:]
        calls = [
            call for each in said for known in shown.known for call in _overwritten(known, each)
        ]
        taken = {call[1]["id"] for call in calls}
        types = {each.type for each in shown.known if each.id in taken}
        right = super().called(shown)
        return calls + [
            (name, each)
            for name, each in right
            if name not in types and each.get("id") not in taken
        ]


class Hallucinating(Oracle):
    """A bad model: it adds to every text what nobody said."""

    INVENTED: Final = " with Ottoline Quarrender in 1687"

    def called(self, shown: ParsedRequest) -> list[Called]:
        """Return the right calls, with something invented in each text."""
        return [(name, self._spoilt(each)) for name, each in super().called(shown)]

    def _spoilt(self, arguments: dict[str, Json]) -> dict[str, Json]:
        spoilt = dict(arguments)
        if "value" in spoilt:
            spoilt["value"] = self._with_invention(spoilt["value"])
        changes = spoilt.get("changes")
        if isinstance(changes, list):
            spoilt["changes"] = [self._spoilt(dict(each)) for each in changes if is_map(each)]
        return spoilt

    def _with_invention(self, value: Json) -> Json:
        if isinstance(value, str):
            return value + self.INVENTED
        if isinstance(value, Mapping):
            return {name: self._with_invention(each) for name, each in value.items()}
        return [self._with_invention(each) for each in value] if is_list(value) else value


def is_map(value: Json) -> TypeGuard[Mapping[str, Json]]:
    """Return whether *value* is a JSON object."""
    return isinstance(value, Mapping)


BAD_MODELS: Final = (Forgetful, OverInserting, OverUpdating, Hallucinating)


def _users(shown: ParsedRequest) -> list[Said]:
    return [said for said in shown.messages if said.new and said.is_user]


def _collection_fields(parameters: JsonObject) -> list[str]:
    """Return the texts that an entry of a tool's collection needs; none if it is no collection."""
    arguments = parameters.get("properties")
    schema = arguments.get("value") if isinstance(arguments, Mapping) else None
    if not isinstance(arguments, Mapping) or "since" not in arguments or not is_map(schema):
        return []
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, Mapping) or not is_list(required):
        return []
    named = {name: properties.get(str(name)) for name in required}
    texts = [str(n) for n, each in named.items() if is_map(each) and each.get("type") == "string"]
    return texts if len(texts) == len(required) else []


def _overwritten(known: ShownMemory, said: Said) -> list[Called]:
    texts = [name for name, each in known.value.items() if isinstance(each, str)]
    if not texts:
        return []
    change: dict[str, Json] = {"op": "replace", "path": join_pointer([texts[0]])}
    cited: dict[str, Json] = {"value": said.text, "because": cited_words(said.number, said.text)}
    return [(PATCH, {"id": known.id, "changes": [{**change, **cited}]})]
