"""
Read a call that makes a document anew, while the document exists, as a patch of it.

The prompt offers no such tool. Functions that always answer alike call it nevertheless, and so do
models that saw it in an earlier prompt. Refusing them would lose what was said, so the fields of
the call become changes. Nothing that the call leaves out changes, since it was not taken back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from recollect.formation.citations import check_fields, read_because
from recollect.formation.offer import Offer
from recollect.formation.operations import Citation, WrongCallError
from recollect.formation.tool_names import PATCH
from recollect.records import Json, JsonObject
from recollect.stores.json_pointers import is_list, join_pointer

_UNSAID: Final = (None, "")


def document_target(name: str, offer: Offer) -> str:
    """
    Return the id of the only document of the type *name*.

    Raises:
        WrongCallError: There is no document of it to patch, or more than one.
    """
    targets = [id_ for id_, memory in offer.known.items() if memory.type == name]
    if len(targets) == 1 and name in offer.types:
        return targets[0]
    tools = ", ".join(tool.name for tool in offer.tools)
    if targets:
        reason = f"there is no tool {name!r}: change {', '.join(targets)} with {PATCH}"
        raise WrongCallError("call", reason)
    raise WrongCallError("call", f"there is no tool {name[:80]!r}; the tools are {tools}")


def patch_arguments(target: str, arguments: Mapping[str, Json], offer: Offer) -> JsonObject:
    """
    Return the arguments of the patch of *target* that writes the fields of a document's call.

    Elements of a list are added to it. Its list of changes is empty if the document says it all.

    Raises:
        WrongCallError: The arguments are malformed, or nothing is cited for a change.
    """
    check_fields(arguments, {"value", "because", "since", "until"}, {"value", "because"})
    value = arguments["value"]
    if not isinstance(value, Mapping):
        raise WrongCallError("value", "'value' must be a JSON object")
    because = read_because(arguments["because"])
    changes = _changes(offer.known[target].value, value)
    return {
        "id": target,
        "changes": [{**change, "because": _cited_for(at, because)} for at, change in changes],
    }


def _changes(
    before: JsonObject, after: JsonObject, steps: Sequence[str] = ()
) -> Iterator[tuple[str, JsonObject]]:
    """Yield each pointer of *after* that says something new, with the operation that writes it."""
    for name, value in after.items():
        path, stands = join_pointer([*steps, name]), before.get(name)
        if value in _UNSAID or value == stands:
            continue
        if isinstance(value, Mapping) and isinstance(stands, Mapping):
            yield from _changes(stands, value, [*steps, name])
        elif is_list(value) and is_list(stands):
            for at, each in enumerate(value):
                if each not in stands:
                    yield f"{path}/{at}", {"op": "add", "path": f"{path}/-", "value": each}
        else:
            yield path, {"op": "add", "path": path, "value": value}


def _cited_for(pointer: str, because: Sequence[Citation]) -> list[Json]:
    """Return the citations for the value at *pointer*: of it, of a part or of what it is in."""
    cited: list[Json] = [
        {"message": each.message, "quote": each.quote}
        for each in because
        if f"{pointer}/".startswith(f"{each.path}/") or each.path.startswith(f"{pointer}/")
    ]
    if not cited:
        reason = f"{pointer} cites no message: add one to 'because', or leave the field out"
        raise WrongCallError("value", reason)
    return cited
