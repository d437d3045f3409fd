"""A document is held to its schema; what is wrong is said so that a model can mend it."""

import json
import re
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import UsageError
from recollect.formation.types import NOTE, USER, MemoryType, load_types
from recollect.formation.types.schema import VIOLATIONS_MAX, violations
from recollect.formation.types.violations import FORMATS
from recollect.records import Json, JsonObject


def with_schema(parameters: JsonObject) -> MemoryType:
    """Return a checked type whose documents have this schema."""
    entry = {"name": "T", "description": "d", "update_mode": "patch", "parameters": parameters}
    return load_types([entry])[0]


def with_field(schema: Json, **beside: Json) -> MemoryType:
    """Return a type whose field ``a`` has this schema."""
    return with_schema({"type": "object", "properties": {"a": schema}, **beside})


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        ({"type": "integer"}, "x", "'x' is text; an integer is needed"),
        ({"type": "integer"}, 1.5, "1.5 is a number; an integer is needed"),
        ({"type": "integer"}, True, "true was found; an integer is needed"),
        ({"type": "string"}, None, "null was found; text is needed"),
        ({"type": ["string", "null"]}, [], "an empty list was found; null or text is needed"),
        ({"type": "boolean"}, 1, "1 is a number; true or false is needed"),
        ({"minimum": 0}, -3, "-3 is less than the minimum of 0"),
        ({"maximum": 150}, 151, "151 is more than the maximum of 150"),
        ({"exclusiveMinimum": 0}, 0, "0 is not more than 0"),
        ({"exclusiveMaximum": 9}, 9, "9 is not less than 9"),
        ({"multipleOf": 0.01}, 1.005, "1.005 is not a multiple of 0.01"),
        ({"enum": ["tea", None, 1]}, "milk", "'milk' is not one of 'tea', null, 1"),
        ({"enum": [1]}, True, "true is not one of 1"),
        ({"const": "x"}, "y", "'y' is not 'x', all that is allowed"),
        ({"minLength": 2}, "x", "it has 1 characters, fewer than the minimum of 2"),
        ({"maxLength": 2}, "xyz", "it has 3 characters, more than the maximum of 2"),
        ({"pattern": "^[a-z]+$"}, "A", "'A' does not match the pattern ^[a-z]+$"),
        ({"pattern": "^[a-z]+$"}, "a\n", r"'a\n' does not match the pattern ^[a-z]+$"),
        ({"format": "date"}, "soon", "'soon' is not a date such as 2024-05-07 (format date)"),
        ({"minItems": 1}, [], "it has 0 elements, fewer than the minimum of 1"),
        ({"maxItems": 1}, [1, 2], "it has 2 elements, more than the maximum of 1"),
        ({"uniqueItems": True}, [1, 2, 1.0], "has equal elements: leave all but one out"),
        ({"prefixItems": [{}], "items": False}, [1, 2], "nothing is allowed here; 2 was found"),
        ({"contains": {"const": 1}}, [2], "has too few, or too many, of what it must have"),
        ({"minProperties": 1}, {}, "it has 0 fields, fewer than the minimum of 1"),
        ({"maxProperties": 0}, {"b": 1}, "it has 1 fields, more than the maximum of 0"),
        ({"required": ["b"]}, {}, "the field 'b' is missing; it is required"),
        ({"dependentRequired": {"b": ["c"]}}, {"b": 1}, "the field 'c' is missing; it is required"),
        ({"not": {"type": "null"}}, None, "null is what is not allowed here"),
        (False, 1, "nothing is allowed here; 1 was found"),
        ({"oneOf": [{"minimum": 0}, {"minimum": 1}]}, 2, "fits more than one of the alternatives"),
        (
            {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "x",
            (
                "fits none of the alternatives: 'x' is text; an integer is needed; or "
                "'x' is text; null is needed"
            ),
        ),
        ({"unevaluatedProperties": False}, {"b": 1}, "it has fields that are not allowed"),
        ({"if": {"minimum": 5}, "then": {"maximum": 7}}, 8, "8 is more than the maximum of 7"),
    ],
)
def test_a_violation_says_where_what_and_what_is_allowed(
    schema: Json, value: Json, said: str
) -> None:
    """Each keyword is enforced, on the field that it stands at."""
    (found,) = violations(with_field(schema), {"a": value})

    assert found.startswith(("/a: ", "/a/1: "))
    assert said in found


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer"}, 30.0),
        ({"multipleOf": 0.01}, 19.99),
        ({"multipleOf": 0.1}, 0.3),
        ({"uniqueItems": True}, [1, True, "1", [1], {"a": 1}, {"a": True}]),
        ({"pattern": "b"}, "abc"),
        ({"pattern": "^a"}, 5),
        ({"format": "date"}, "2024-02-29"),
        ({"format": "made-up"}, "anything"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, None),
        ({"x-note": "unknown keywords are notes"}, 1),
        (True, 1),
    ],
)
def test_what_a_schema_allows_passes(schema: Json, value: Json) -> None:
    assert () == violations(with_field(schema), {"a": value})


def test_each_unknown_field_is_named_with_those_that_exist() -> None:
    type_ = with_field({"type": "string"}, additionalProperties=False)

    found = violations(type_, {"a": "x", "b/c": 1, "d": 2})

    said = "there is no such field; the fields are 'a'"
    assert (f"/b~1c: {said}", f"/d: {said}") == found


def test_additional_fields_have_their_own_schema() -> None:
    type_ = with_schema(
        {
            "type": "object",
            "patternProperties": {"^n_": {"type": "integer"}},
            "additionalProperties": {"type": "string"},
            "propertyNames": {"maxLength": 5},
        }
    )

    found = violations(type_, {"n_a": "x", "other": 1, "n_b": 1, "o": "y", "longer": "z"})

    assert (
        "/longer: the field's name is wrong: it has 6 characters, more than the maximum of 5",
        "/n_a: 'x' is text; an integer is needed",
        "/other: 1 is a number; text is needed",
    ) == found


def test_deep_places_are_named_by_pointer() -> None:
    type_ = with_field({"type": "array", "items": {"properties": {"b": {"type": "string"}}}})

    found = violations(type_, {"a": [{"b": "x"}, {"b": 5}]})

    assert ("/a/1/b: 5 is a number; text is needed",) == found


def test_the_number_of_violations_is_limited() -> None:
    type_ = with_field({"items": {"type": "string"}})

    found = violations(type_, {"a": list(range(100))})

    assert VIOLATIONS_MAX + 1 == len(found)
    assert "and 80 more of the kind" == found[-1]


def nested(levels: int) -> object:
    """Return a list of so many levels."""
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(None, id="null"),
        pytest.param([], id="list"),
        pytest.param("x", id="text"),
        pytest.param(10**5_000, id="5000 digits"),
        pytest.param({"a": -(10**5_000)}, id="5000 digits inside"),
        pytest.param({"a": float("nan")}, id="nan"),
        pytest.param({"a": float("-inf")}, id="infinity"),
        pytest.param({"a": nested(100_000)}, id="100000 levels"),
        pytest.param({"a": "\0"}, id="NUL"),
        pytest.param({"a": "\ud800"}, id="surrogate"),
        pytest.param({"\udfff": 1}, id="surrogate in a name"),
        pytest.param({1: 2}, id="a name that is no text"),
        pytest.param({"a": {1, 2}}, id="no JSON"),
        pytest.param({"a": b"bytes"}, id="bytes"),
        pytest.param({"a": "x" * 1_000_001}, id="long text"),
    ],
)
def test_nothing_makes_checking_fail(value: object) -> None:
    """What could not be stored is one violation, for every type alike."""
    for type_ in (USER, with_schema({"type": "object"})):
        found = violations(type_, value)

        assert 1 == len(found)
        assert len(found[0]) < 400


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["a", "user_name", "age", "content"]), inner)
        ),
        max_leaves=10,
    )
)
def test_checking_returns_whatever_the_value_is(value: object) -> None:
    """Every violation is one line for a model."""
    for type_ in (USER, NOTE, with_field({"anyOf": [{"type": "string"}, {"maximum": 3}]})):
        assert all("\n" not in each for each in violations(type_, value))


def test_a_type_made_by_hand_is_checked_all_the_same() -> None:
    """A schema that is none is the programmer's error, not the model's."""
    type_ = MemoryType(name="T", description="d", update_mode="patch", parameters={"type": "text"})

    with pytest.raises(UsageError, match=r"parameters\.type"):
        violations(type_, {})


@pytest.mark.parametrize(
    ("format_", "good", "bad"),
    [
        ("date", "2024-02-29", "2023-02-29"),
        ("date", "0001-01-01", "2024-1-1"),
        ("date-time", "2024-05-07T18:30:00Z", "2024-05-07T18:30:00"),
        ("date-time", "2024-05-07t18:30:00.5+02:00", "2024-05-07T24:30:00Z"),
        ("date-time", "1998-12-31T23:59:60Z", "2024-02-30T10:00:00Z"),
        ("time", "18:30:00-05:00", "18:30"),
        ("duration", "P1Y2M3DT4H5M6S", "P"),
        ("duration", "P2W", "PT"),
        ("email", "ada@example.org", "ada@"),
        ("email", "a.b+c@example.org", "ada..l@example.org"),
        ("email", "x@y", "two words@example.org"),
        ("hostname", "www.example.org", "-a.example"),
        ("hostname", "a", "a" * 64),
        ("ipv4", "192.0.2.1", "192.0.2.256"),
        ("ipv6", "2001:db8::1", "2001::db8::1"),
        ("uri", "https://example.org/a?b#c", "/a"),
        ("uri", "mailto:ada@example.org", "https://example.org/a b"),
        ("uri-reference", "/a?b=c", "\\a"),
        ("uuid", "123e4567-e89b-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000"),
        ("json-pointer", "/a~1b", "a"),
        ("regex", "^a+$", "(a"),
    ],
)
def test_formats_are_enforced(format_: str, good: str, bad: str) -> None:
    """Each named format takes what has it and refuses what has not."""
    type_ = with_field({"format": format_})

    assert format_ in FORMATS
    assert () == violations(type_, {"a": good})
    assert 1 == len(violations(type_, {"a": bad}))


@given(
    st.sampled_from(sorted(FORMATS)),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30),
)
def test_a_format_is_checked_without_an_error(format_: str, text: str) -> None:
    """Any text has a format or is refused with an example of it."""
    found = violations(with_field({"format": format_}), {"a": text})

    assert not found or FORMATS[format_] in found[0]


def matches_pattern(pattern: str, text: str) -> bool:
    """Return whether a field with this pattern takes *text*."""
    return not violations(with_field({"pattern": pattern}), {"a": text})


PIECES = st.sampled_from(
    ["a", "b", "ab", ".", "[ab]", "[^a]", "[a-c]", r"\d", r"\w", r"\W", "^", "$", r"\b", r"\.", "1"]
)
GROWN = st.recursive(
    PIECES,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{0,2}", "{1,}", "*?"])).map(
            lambda two: f"(?:{two[0]}){two[1]}"
        ),
    ),
    max_leaves=6,
)


@given(GROWN, st.text("abc1. ", max_size=8))
def test_patterns_match_as_they_do_elsewhere(pattern: str, text: str) -> None:
    """On texts of one line the same texts match as with Python's own, ASCII, engine."""
    expected = re.search(pattern.replace("$", r"\Z"), text, re.ASCII) is not None

    assert expected == matches_pattern(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        (r"^\p{L}+$", "\u6e29z\u00e9", True),
        (r"^\p{Lu}", "a", False),
        (r"^\P{N}+$", "a1", False),
        (r"^\w+$", "\u6e29", False),
        (r"^\d+$", "\u0661", False),
        (r"^\u6e29\x41\u{1F98A}$", "\u6e29A\U0001f98a", True),
        (r"^[\w.+-]+@[\w-]+(\.[\w-]+)+$", "a.b@c-d.example", True),
        (r"^[^\]\\]+$", "]", False),
        ("^a{2,3}$", "aaaa", False),
        ("^.$", "\n", False),
        (r"^(?<year>\d{4})$", "2024", True),
        (r"^\/\-$", "/-", True),
        ("", "", True),
        ("(|a)+$", "b", True),
        ("^.{1,500}$", "x" * 501, False),
    ],
)
def test_patterns_are_those_of_ecma_262(pattern: str, text: str, matches: bool) -> None:  # noqa: FBT001
    assert matches == matches_pattern(pattern, text)


@pytest.mark.parametrize(
    "pattern",
    [
        "(a", "a)", "*a", "[a", "[b-a]", "a\\", "(?=a)", "(?!a)", "(?<=a)b", r"(a)\1", r"\k<a>",
        r"\q", r"\xZZ", r"\u{110000}", "a{3,2}", "(a{1000}){1000}", "(" * 300 + ")" * 300,
        "a" * 1_001,
    ],
)  # fmt: skip
def test_a_pattern_that_cannot_be_bounded_is_refused(pattern: str) -> None:
    """The error of the type names the pattern's place and says what to do."""
    with pytest.raises(
        UsageError, match=r"types\[0\]\.parameters\.properties\.a\.pattern"
    ) as raised:
        with_field({"pattern": pattern})

    assert "PATTERN_" in str(raised.value)


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", "^(a?){200}a{200}b$", "(.*)*x$"])
def test_a_pattern_cannot_run_away(pattern: str) -> None:
    """Patterns that cost a backtracking matcher years come to an end, with a violation."""
    type_ = with_field({"type": "array", "items": {"pattern": pattern}})
    texts = ["a" * 9_999 + "!"] * 50

    found = violations(type_, {"a": texts})

    assert found[0].startswith("/a/0: ") or "CHECKS_MAX" in found[0]


def test_a_schema_cannot_make_checking_run_away() -> None:
    """Alternatives times elements are stopped at a limit, which the violation names."""
    alternatives: list[Json] = [{"minimum": at} for at in range(1_000)]
    type_ = with_field({"items": {"allOf": alternatives}})

    (found,) = violations(type_, {"a": [1_000] * 6_000})

    assert "CHECKS_MAX" in found


def test_a_large_profile_is_checked() -> None:
    """A document of 50 KB is well inside the limits."""
    fields: dict[str, Json] = {
        f"field{at}": {"type": "string", "maxLength": 500} for at in range(400)
    }
    type_ = with_schema({"type": "object", "properties": fields, "additionalProperties": False})
    profile = dict.fromkeys(fields, "some words " * 15)

    assert len(json.dumps(profile)) > 50_000
    assert () == violations(type_, profile)
    assert ("/field7: 7 is a number; text is needed",) == violations(
        type_, {**profile, "field7": 7}
    )


def test_checking_leaves_the_value_as_it_was() -> None:
    value = {"a": [1, {"b": 2.0}]}
    before = json.dumps(value)

    violations(with_field({"items": {"type": "string"}}), cast("object", value))

    assert before == json.dumps(value)
