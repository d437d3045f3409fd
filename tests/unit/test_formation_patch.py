"""JSON Patch as RFC 6902 has it: whole or not at all, never touching what it was given."""

import copy
import json
import pickle
from typing import cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.errors import ModelError, UsageError
from recollect.formation.patch import (
    OPERATIONS_MAX,
    PatchError,
    apply_patch,
    changed_pointers,
)
from recollect.records import Json, JsonObject
from recollect.stores.json_pointers import leaves, parse_pointer, value_at

Operation = dict[str, Json]

SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.0, 1.0, 1.5, "", "x"])
NAMES = st.sampled_from(["a", "b", "0", "-", "x/y", "t~u", ""])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(NAMES, VALUES, max_size=4)
POINTERS = st.lists(NAMES, max_size=3).map(
    lambda steps: "".join("/" + s.replace("~", "~0").replace("/", "~1") for s in steps)
)
OPERATIONS = st.fixed_dictionaries(
    {"op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test"]), "path": POINTERS},
    optional={"value": VALUES, "from": POINTERS},
)


def patch(document: JsonObject, *operations: Operation) -> JsonObject:
    """Return what one patch makes of *document*."""
    return apply_patch(document, operations)


@pytest.mark.parametrize(
    ("document", "operations", "result"),
    [
        ({}, [], {}),
        ({}, [{"op": "add", "path": "/a", "value": 1}], {"a": 1}),
        ({"a": 1}, [{"op": "add", "path": "/a", "value": None}], {"a": None}),
        ({"a": [1, 3]}, [{"op": "add", "path": "/a/1", "value": 2}], {"a": [1, 2, 3]}),
        ({"a": [1]}, [{"op": "add", "path": "/a/1", "value": 2}], {"a": [1, 2]}),
        ({"a": []}, [{"op": "add", "path": "/a/0", "value": 2}], {"a": [2]}),
        ({"a": [1]}, [{"op": "add", "path": "/a/-", "value": [2]}], {"a": [1, [2]]}),
        ({"-": 1}, [{"op": "replace", "path": "/-", "value": 2}], {"-": 2}),
        ({"0": 1}, [{"op": "remove", "path": "/0"}], {}),
        ({"": 1}, [{"op": "remove", "path": "/"}], {}),
        ({"a/b": 1}, [{"op": "replace", "path": "/a~1b", "value": 2}], {"a/b": 2}),
        ({"~1": 1}, [{"op": "remove", "path": "/~01"}], {}),
        ({"a": 1}, [{"op": "add", "path": "", "value": {"b": 2}}], {"b": 2}),
        ({"a": 1}, [{"op": "replace", "path": "", "value": {}}], {}),
        ({"a": [1, 2, 3]}, [{"op": "remove", "path": "/a/1"}], {"a": [1, 3]}),
        ({"a": {"b": 1}}, [{"op": "replace", "path": "/a/b", "value": {}}], {"a": {"b": {}}}),
        ({"a": 1}, [{"op": "move", "from": "/a", "path": "/b"}], {"b": 1}),
        ({"a": [1, 2, 3]}, [{"op": "move", "from": "/a/0", "path": "/a/2"}], {"a": [2, 3, 1]}),
        ({"a": [1, 2]}, [{"op": "move", "from": "/a/0", "path": "/a/-"}], {"a": [2, 1]}),
        ({"a": {"b": 1}}, [{"op": "move", "from": "/a/b", "path": "/a"}], {"a": 1}),
        ({"a": {"b": 1}}, [{"op": "move", "from": "/a", "path": ""}], {"b": 1}),
        ({"a": 1}, [{"op": "move", "from": "/a", "path": "/a"}], {"a": 1}),
        ({"a": 1, "ab": 2}, [{"op": "move", "from": "/a", "path": "/ab"}], {"ab": 1}),
        ({"a": [1]}, [{"op": "copy", "from": "/a", "path": "/b"}], {"a": [1], "b": [1]}),
        ({"a": {}}, [{"op": "copy", "from": "", "path": "/a/b"}], {"a": {"b": {"a": {}}}}),
        ({"a": 1.0}, [{"op": "test", "path": "/a", "value": 1}], {"a": 1.0}),
        ({"a": {"x": 1, "y": 2}}, [{"op": "test", "path": "/a", "value": {"y": 2, "x": 1}}], None),
        ({"a": None}, [{"op": "test", "path": "/a", "value": None}], None),
        ({"a": 1}, [{"op": "test", "path": "", "value": {"a": 1}}], None),
        ({"a": 1}, [{"op": "remove", "path": "/a", "value": 9, "why": "?"}], {}),
        (
            {"a": 1},
            [{"op": "remove", "path": "/a"}, {"op": "add", "path": "/a", "value": 2}],
            {"a": 2},
        ),
    ],
)
def test_a_patch_is_applied(
    document: JsonObject, operations: list[Operation], result: JsonObject | None
) -> None:
    """Each operation does what the RFC says; members that it does not define are ignored."""
    found = apply_patch(document, operations)

    assert json.dumps(document if result is None else result) == json.dumps(found)


BASE: JsonObject = {"name": "Ada", "age": 30, "pets": ["Mia", "Leo"], "house": {"city": "Oslo"}}


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        ({}, "'op' is missing: use one of 'add', 'remove', 'replace', 'move', 'copy', 'test'"),
        ({"path": "/name"}, "'op' is missing"),
        ({"op": None, "path": "/name"}, "null is no operation"),
        ({"op": 1, "path": "/name"}, "1 is no operation"),
        ({"op": "Add", "path": "/x", "value": 1}, "'Add' is no operation"),
        ({"op": "set", "path": "/x", "value": 1}, "'set' is no operation"),
        ({"op": "", "path": "/x"}, "'' is no operation"),
        ({"op": ["add"], "path": "/x"}, "a list of 1 elements is no operation"),
        ({"op": "add", "value": 1}, "'path' is missing"),
        ({"op": "remove"}, "'path' is missing"),
        ({"op": "replace", "value": 1}, "'path' is missing"),
        ({"op": "test", "value": 1}, "'path' is missing"),
        ({"op": "move", "from": "/name"}, "'path' is missing"),
        ({"op": "copy", "from": "/name"}, "'path' is missing"),
        ({"op": "move", "path": "/x"}, "'from' is missing"),
        ({"op": "copy", "path": "/x"}, "'from' is missing"),
        ({"op": "add", "path": None, "value": 1}, "'path' must be a JSON pointer"),
        ({"op": "add", "path": 3, "value": 1}, "not 3"),
        ({"op": "add", "path": ["name"], "value": 1}, "'path' must be a JSON pointer"),
        ({"op": "move", "from": 3, "path": "/x"}, "'from' must be a JSON pointer"),
        ({"op": "copy", "from": None, "path": "/x"}, "'from' must be a JSON pointer"),
        ({"op": "add", "path": "name", "value": 1}, "begin it with '/'"),
        ({"op": "add", "path": "/na~me", "value": 1}, "write '~0' for '~'"),
        ({"op": "remove", "path": "/~"}, "write '~0' for '~'"),
        ({"op": "move", "from": "name", "path": "/x"}, "begin it with '/'"),
        ({"op": "add", "path": "/x"}, "'value' is missing: add needs one, be it null"),
        ({"op": "replace", "path": "/name"}, "'value' is missing"),
        ({"op": "test", "path": "/name"}, "'value' is missing"),
        ({"op": "add", "path": "/x/y", "value": 1}, "has no field 'x'"),
        ({"op": "add", "path": "/x/y", "value": 1}, "add what is missing above first"),
        ({"op": "add", "path": "/name/y", "value": 1}, "is text: nothing can stand inside it"),
        ({"op": "add", "path": "/age/0", "value": 1}, "is a number: nothing can stand inside it"),
        ({"op": "add", "path": "/pets/3", "value": 1}, "has the elements 0 to 1, not 3"),
        ({"op": "add", "path": "/pets/3", "value": 1}, "'-' adds behind the last element"),
        ({"op": "add", "path": "/pets/x", "value": 1}, "'x' is not an index"),
        ({"op": "add", "path": "/pets/01", "value": 1}, "without leading zeros"),
        ({"op": "add", "path": "/pets/-1", "value": 1}, "'-1' is not an index"),
        ({"op": "add", "path": "/pets/", "value": 1}, "'' is not an index"),
        ({"op": "add", "path": "/pets/-/x", "value": 1}, "after the last element"),
        ({"op": "add", "path": "", "value": 1}, "a number cannot take its place"),
        ({"op": "add", "path": "", "value": []}, "a list cannot take its place"),
        ({"op": "replace", "path": "", "value": None}, "must stay a JSON object"),
        ({"op": "remove", "path": ""}, "the whole document cannot be removed"),
        ({"op": "remove", "path": "/x"}, "has no field 'x'; it has 'name', 'age', 'pets', 'house'"),
        ({"op": "remove", "path": "/house/x"}, "the value at '/house' has no field 'x'"),
        ({"op": "remove", "path": "/house/city/x"}, "nothing can stand inside it"),
        ({"op": "remove", "path": "/pets/2"}, "has the elements 0 to 1, not 2"),
        ({"op": "remove", "path": "/pets/-"}, "only add can use it"),
        ({"op": "replace", "path": "/x", "value": 1}, "use add for what is new"),
        ({"op": "replace", "path": "/pets/2", "value": 1}, "use add for what is new"),
        ({"op": "replace", "path": "/pets/-", "value": 1}, "only add can use it"),
        ({"op": "replace", "path": "/house/zip", "value": 1}, "it has 'city'"),
        ({"op": "move", "from": "/x", "path": "/y"}, "has no field 'x'"),
        ({"op": "move", "from": "/house", "path": "/house/city"}, "cannot be moved into itself"),
        ({"op": "move", "from": "", "path": "/x"}, "cannot be moved into itself"),
        ({"op": "move", "from": "/name", "path": ""}, "text cannot take its place"),
        ({"op": "move", "from": "/pets/-", "path": "/x"}, "only add can use it"),
        ({"op": "move", "from": "/pets/0", "path": "/pets/2"}, "has the elements 0 to 0, not 2"),
        ({"op": "copy", "from": "/x", "path": "/y"}, "has no field 'x'"),
        ({"op": "copy", "from": "/name", "path": "/x/y"}, "add what is missing above first"),
        ({"op": "copy", "from": "/pets", "path": ""}, "a list cannot take its place"),
        ({"op": "copy", "from": "/pets/9", "path": "/x"}, "not 9"),
        ({"op": "test", "path": "/x", "value": 1}, "has no field 'x'"),
        ({"op": "test", "path": "/age", "value": 31}, "there stands 30, not 31"),
        ({"op": "test", "path": "/age", "value": "30"}, "there stands 30, not '30'"),
        ({"op": "test", "path": "/pets", "value": ["Mia", "Zoe"]}, "they differ at '/pets/1'"),
        ({"op": "test", "path": "/house", "value": {}}, "they differ at '/house/city'"),
        ({"op": "test", "path": "", "value": {"name": "Bea"}}, "they differ at '/age'"),
        ({"op": "add", "path": "/x", "value": float("nan")}, "contains nan"),
        ({"op": "add", "path": "/x", "value": float("inf")}, "contains inf"),
        ({"op": "add", "path": "/x", "value": 10**5_000}, "INTEGER_BITS_MAX is 64"),
        ({"op": "add", "path": "/x", "value": "a\0"}, "NUL"),
        ({"op": "add", "path": "/x", "value": "\ud800"}, "surrogate"),
        ({"op": "add", "path": "/x", "value": {1: 2}}, "must be text"),
        ({"op": "add", "path": "/x", "value": {1, 2}}, "JSON cannot express"),
        ({"op": "add", "path": "/x\0", "value": 1}, "NUL"),
        ({"op": "add", "path": "/a" * 100_000, "value": 1}, "JSON_DEPTH_MAX"),
        ("add", "an operation is a JSON object with 'op' and 'path', not text"),
        (None, "not null"),
        (["add", "/x", 1], "not a list"),
    ],
)
def test_an_operation_that_cannot_be_carried_out_is_named(operation: object, words: str) -> None:
    """The error names the operation and says why and what to do; nothing has changed."""
    before = copy.deepcopy(BASE)
    first: Operation = {"op": "replace", "path": "/name", "value": "Bea"}
    operations = [first, cast("Operation", operation)]

    with pytest.raises(PatchError) as raised:
        apply_patch(BASE, operations)

    assert words in str(raised.value)
    assert str(raised.value).startswith("operation 1")
    assert (1, operation) == (raised.value.index, raised.value.operation)
    assert before == BASE


def test_a_failure_says_which_operation_failed() -> None:
    """The message carries number, kind and place, and the error survives pickling."""
    operation: Operation = {"op": "replace", "path": "/town", "value": "Bergen"}
    reason = "the document has no field 'town'; it has none"
    advice = "replace changes only what is there, use add for what is new"

    with pytest.raises(ModelError) as raised:
        patch({}, operation)

    assert f"operation 0 (replace '/town'): {reason}: {advice}" == str(raised.value)
    assert str(raised.value) == str(pickle.loads(pickle.dumps(raised.value)))  # noqa: S301


@pytest.mark.parametrize("operations", [None, "add", {"op": "add"}, 5])
def test_operations_are_a_list(operations: object) -> None:
    with pytest.raises(UsageError, match="a patch is a list of operations"):
        apply_patch({}, cast("list[Operation]", operations))


@pytest.mark.parametrize("document", [[], "x", None, {"a": float("nan")}])
def test_only_an_object_that_can_be_stored_is_patched(document: object) -> None:
    with pytest.raises(UsageError):
        apply_patch(cast("JsonObject", document), [])


def test_a_list_of_100_000_levels_is_refused() -> None:
    """No depth makes it recurse too far."""
    deep: Json = []
    for _ in range(100_000):
        deep = [deep]

    with pytest.raises(PatchError, match="JSON_DEPTH_MAX"):
        patch({}, {"op": "add", "path": "/a", "value": deep})


def test_a_document_grows_no_deeper_than_can_be_stored() -> None:
    """The operation that would go too deep is the one that is named."""
    ten: Json = []
    for _ in range(10):
        ten = {"a": ten}
    path = "/a" * 10
    operations: list[Operation] = [{"op": "add", "path": "/a", "value": ten}]
    operations += [{"op": "add", "path": path * (at + 1), "value": ten} for at in range(4)]

    with pytest.raises(PatchError, match="JSON_DEPTH_MAX is 32") as raised:
        apply_patch({}, operations)

    assert raised.value.index in {2, 3}


def test_copies_of_copies_are_bounded() -> None:
    """The copy that would make too much is refused before it is made, not when all are done."""
    copies: list[Operation] = [
        {"op": "copy", "from": "/all", "path": f"/copy{at}"} for at in range(300)
    ]

    with pytest.raises(PatchError, match="JSON_BYTES_MAX is 1000000") as raised:
        apply_patch({"all": "x" * 10_000}, copies)

    assert 99 == raised.value.index


def test_operations_are_limited() -> None:
    operations: list[Operation] = [{"op": "test", "path": "", "value": {}}] * (OPERATIONS_MAX + 1)

    with pytest.raises(PatchError, match="OPERATIONS_MAX is 1000") as raised:
        apply_patch({}, operations)

    assert OPERATIONS_MAX == raised.value.index


@given(DOCUMENTS, st.lists(OPERATIONS, max_size=4))
def test_a_patch_applies_whole_or_raises(document: JsonObject, operations: list[Operation]) -> None:
    """What comes of the first operations one by one comes of all of them, or nothing does."""
    given_before = json.dumps([document, operations])
    step: JsonObject = document
    failed_at: int | None = None
    for at, operation in enumerate(operations):
        try:
            step = apply_patch(step, [operation])
        except PatchError:
            failed_at = at
            break

    try:
        whole: JsonObject | int = apply_patch(document, operations)
    except PatchError as error:
        whole = error.index

    assert (step if failed_at is None else failed_at) == whole
    assert given_before == json.dumps([document, operations])


@given(DOCUMENTS, VALUES)
def test_the_result_shares_nothing(document: JsonObject, value: Json) -> None:
    """Changing a result changes neither the document nor the operation it came from."""
    operation: Operation = {"op": "add", "path": "/new", "value": value}
    before = json.dumps([document, operation])

    found = patch(document, operation)
    waiting: list[object] = [found]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            waiting += part.values()
            part.clear()
        elif isinstance(part, list):
            waiting += part
            part.clear()

    assert before == json.dumps([document, operation])


def operations_between(before: Json, after: Json) -> list[Operation]:
    """Write a patch of what changed: replaced, then removed from behind, then added."""
    replaced, removed, added = list[Operation](), list[Operation](), list[Operation]()
    for pointer in changed_pointers(before, after):
        if not stands(before, pointer):
            added.append({"op": "add", "path": pointer, "value": value_at(after, pointer)})
        elif stands(after, pointer):
            replaced.append({"op": "replace", "path": pointer, "value": value_at(after, pointer)})
        else:
            removed.append({"op": "remove", "path": pointer})
    return [*replaced, *reversed(removed), *added]


def stands(value: Json, pointer: str) -> bool:
    """Return True if something stands at *pointer*, walking by hand."""
    for step in parse_pointer(pointer):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return False
    return True


@given(DOCUMENTS, DOCUMENTS)
@example({"a": [1, 2, 3]}, {"a": [1]})
@example({"a": 1}, {"a": True})
@example({"a": ""}, {})
def test_changed_pointers_and_patches_agree(before: JsonObject, after: JsonObject) -> None:
    """A patch of the changed places makes one document of the other, and none can be left out."""
    operations = operations_between(before, after)

    found = apply_patch(before, operations)

    assert () == changed_pointers(found, after)
    for left_out in range(len(operations)):
        fewer = [each for at, each in enumerate(operations) if at != left_out]
        try:
            assert changed_pointers(apply_patch(before, fewer), after)
        except PatchError:
            continue


@given(DOCUMENTS)
def test_a_document_does_not_differ_from_itself(document: JsonObject) -> None:
    assert () == changed_pointers(document, copy.deepcopy(document))


@pytest.mark.parametrize(
    ("before", "after", "pointers"),
    [
        ({}, {}, ()),
        ({"a": 1}, {"a": 1.0}, ()),
        ({"a": 1}, {"a": True}, ("/a",)),
        ({"a": 0}, {"a": False}, ("/a",)),
        ({"a": "1"}, {"a": 1}, ("/a",)),
        ({"a": None}, {}, ("/a",)),
        ({}, {"a": ""}, ("/a",)),
        ({"a": []}, {"a": {}}, ("/a",)),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 2, "c": 3}}, ("/a/b", "/a/c")),
        ({}, {"a": {"b": {"c": 1}}}, ("/a",)),
        ({"a": [1, 2]}, {"a": [1, 2, 3, 4]}, ("/a/2", "/a/3")),
        ({"a": [1, 2, 3]}, {"a": [2, 3]}, ("/a/0", "/a/1", "/a/2")),
        ({"a/b": 1, "m~n": 1}, {"a/b": 2, "m~n": 2}, ("/a~1b", "/m~0n")),
        ({"b": 1, "a": 1}, {"c": 1, "a": 2}, ("/b", "/a", "/c")),
        (1, 2, ("",)),
    ],
)
def test_the_smallest_changes_are_named(
    before: Json, after: Json, pointers: tuple[str, ...]
) -> None:
    """Lists by position, added parts whole, values as JSON compares them."""
    assert pointers == changed_pointers(before, after)


def test_one_field_of_a_large_document_changes_alone() -> None:
    """In a profile of 50 KB all other fields stay byte-equal, and in their order."""
    profile: dict[str, Json] = {f"field{at}": f"{at} " * 40 for at in range(400)}

    found = patch(profile, {"op": "replace", "path": "/field7", "value": "new"})

    assert len(json.dumps(profile)) > 50_000
    assert json.dumps({**profile, "field7": "new"}) == json.dumps(found)
    assert ("/field7",) == changed_pointers(profile, found)
    assert len(profile) == len(list(leaves(found)))
