"""
What the originals do with a list of messages, ours does, with their classes and with our own.

Every example is counted; one that is compared in part only is counted by the reason, and each
reason is a deviation that docs/messages.md names.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from langchain_core import messages as theirs
from langchain_core.messages.base import BaseMessage
from langchain_core.messages.utils import count_tokens_approximately as their_count
from langgraph.graph.message import add_messages as their_add_messages

import recollect
from recollect import messages as ours
from recollect.errors import UsageError
from recollect.messages import OWN_CLASSES, AnyMessage, MessageClasses, message_classes

Spec: TypeAlias = dict[str, Any]
Tally: TypeAlias = Counter[str]
Example: TypeAlias = Callable[[st.DataObject, Tally], None]

EXAMPLES = pytest.mark.parametrize("examples", [150, pytest.param(1_500, marks=pytest.mark.prove)])
THEIR_CLASSES = message_classes()
# What the originals raise for wrong arguments; ours is one error, and a ValueError.
THEIR_ERRORS = (ValueError, TypeError, NotImplementedError, KeyError)
FIELDS = (
    *("content", "id", "name", "additional_kwargs", "response_metadata", "tool_calls"),
    *("invalid_tool_calls", "usage_metadata", "tool_call_id", "artifact", "status", "role"),
)

# Specs of messages, of which each family makes its own

TEXTS = st.text("ab \n，我你!", max_size=12) | st.just("The quick brown fox\njumps.")
IDS = st.sampled_from([None, None, "a", "b", "c", "lc_1", "lc_run-2", ""])
NAMES = st.sampled_from([None, None, "Ada", "Bob"])
CALL_IDS = st.sampled_from(["c1", "c2", "c3", None])
BLOCKS = st.one_of(
    TEXTS,
    TEXTS.map(lambda text: {"type": "text", "text": text}),
    st.just({"type": "text"}),
    st.builds(
        lambda text, index: {"type": "text", "text": text, "index": index},
        TEXTS,
        st.sampled_from([0, 1, "lc_0", "other"]),
    ),
    st.just({"type": "image", "base64": "AAAA", "mime_type": "image/png"}),
    st.just({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}),
    CALL_IDS.map(lambda id_: {"type": "tool_use", "id": id_, "name": "look", "input": {}}),
    st.just({"type": "reasoning", "reasoning": "hm", "index": 0}),
    st.just({"type": "non_standard", "value": {"type": "x", "y": 1}, "index": 0}),
    st.just({"other": [1, {"deep": None}]}),
)
LONG = "one two\nthree\nfour five\nsix\nseven\n"
PIECES = st.builds(
    lambda words, index: {"type": "text", "text": words, "index": index},
    st.sampled_from(["a", "b"]),
    st.sampled_from([0, 1, "lc_0"]),
)
LONG_CONTENTS = st.sampled_from([LONG, [{"type": "text", "text": LONG}], [LONG, "end"]])
CONTENTS = st.one_of(
    TEXTS,
    st.lists(BLOCKS, max_size=4),
    st.lists(PIECES, min_size=1, max_size=2),
    LONG_CONTENTS,
)
CALLS = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.sampled_from(["look", "ask"]),
            "args": st.dictionaries(st.sampled_from("xy"), st.integers(0, 9) | TEXTS, max_size=2),
            "id": CALL_IDS,
        }
    ),
    max_size=2,
)
INVALID_CALLS = st.lists(
    st.sampled_from(
        [
            {"name": "look", "args": "{", "id": "c9", "error": "cut", "type": "invalid_tool_call"},
            {"name": "ask", "args": "no", "id": None, "error": None, "type": "invalid_tool_call"},
        ]
    ),
    max_size=1,
)
SOME_KWARGS = st.fixed_dictionaries(
    {},
    optional={
        "note": TEXTS | st.integers(0, 3) | st.none(),
        "count": st.integers(0, 3),
        "is_so": st.booleans(),
        "share": st.sampled_from([0.5, 0.25]),
        "created": st.integers(0, 9),
        "items": st.lists(st.integers(0, 3), max_size=2),
        "model_provider": st.sampled_from(["p", "q"]),
        "nested": st.dictionaries(st.sampled_from("xy"), st.integers(0, 3), max_size=2),
        "function_call": st.just({"name": "look", "arguments": "{}"}),
        "index": st.sampled_from([0, 1, "lc_0"]),
    },
)
KWARGS = st.one_of(
    SOME_KWARGS, st.builds(lambda moment: {"created": moment}, st.integers(1, 3)), st.just({})
)
METADATA = st.fixed_dictionaries({}, optional={"model_provider": st.sampled_from(["p", "q"])})
USAGES = st.none() | st.builds(
    lambda read, wrote, details: {
        "input_tokens": read,
        "output_tokens": wrote,
        "total_tokens": read + wrote,
        **details,
    },
    st.integers(0, 400),
    st.integers(0, 400),
    st.sampled_from([{}, {"input_token_details": {"cache_read": 3}}]),
)
EVERY = {
    "content": CONTENTS,
    "id": IDS,
    "name": NAMES,
    "additional_kwargs": KWARGS,
    "response_metadata": METADATA,
}


def spec(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Spec]:
    return st.fixed_dictionaries({"kind": st.just(kind), **EVERY, **fields})


SYSTEM_KWARGS = st.builds(
    lambda kwargs, role: {**kwargs, **role},
    KWARGS,
    st.sampled_from([{}, {}, {"__openai_role__": "developer"}]),
)
# Calls that the blocks name a second time, as Anthropic's do.
USING = st.lists(st.sampled_from(["c1", "c2", "c3"]), min_size=1, max_size=3).map(
    lambda ids: {
        "kind": "ai",
        "content": ["Hm", *({"type": "tool_use", "id": id_} for id_ in ids)],
        "tool_calls": [{"name": "look", "args": {}, "id": id_} for id_ in ids],
    }
)
AI = spec("ai", tool_calls=CALLS, invalid_tool_calls=INVALID_CALLS, usage_metadata=USAGES)
SAID = st.one_of(
    spec("human"),
    AI,
    USING,
    spec("system", additional_kwargs=SYSTEM_KWARGS),
    spec(
        "tool",
        tool_call_id=st.sampled_from(["c1", "c2", "c3"]),
        artifact=st.sampled_from([None, [], {"rows": [1]}]),
        status=st.sampled_from(["success", "error"]),
    ),
    spec("function", name=st.sampled_from(["look", "ask"])),
    spec("chat", role=st.sampled_from(["Eve", "user", "assistant"])),
)
REMOVALS = st.sampled_from(["a", "b", "c", "zz", ours.REMOVE_ALL_MESSAGES]).map(
    lambda id_: {"kind": "remove", "id": id_}
)
TALKS = st.lists(SAID, max_size=7)
ANY_TALKS = st.lists(st.one_of(SAID, SAID, SAID, REMOVALS), max_size=7)
LONG_TALKS = st.lists(spec("human", content=LONG_CONTENTS), min_size=1, max_size=3)
RUNS = st.one_of(
    st.lists(spec("human"), min_size=2, max_size=4), st.lists(AI, min_size=2, max_size=4)
)
TYPES = st.none() | st.lists(
    st.sampled_from(["human", "ai", "tool", "system", theirs.HumanMessage, theirs.ToolMessage]),
    min_size=1,
    max_size=2,
)


def made(specs: Iterable[Spec], classes: MessageClasses) -> list[Any]:
    return [
        getattr(classes, each["kind"])(**{k: v for k, v in each.items() if k != "kind"})
        for each in specs
    ]


def shape(message: AnyMessage) -> Spec:
    """Return all that a message says, without its class."""
    fields = {name: getattr(message, name, None) for name in FIELDS}
    for name in ("tool_calls", "invalid_tool_calls"):
        fields[name] = list(fields[name] or [])
    return {"kind": message.type, **fields}


def outcome(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Return what *function* returns, messages by their shapes, or how its error begins."""
    try:
        result = function(*arguments, **options)
    except UsageError as error:
        return "error", str(error)[:24]
    except THEIR_ERRORS as error:
        return "error", str(error)[:24]
    return [shape(each) for each in result] if isinstance(result, list) else result


def is_error(result: Any) -> bool:
    return isinstance(result, tuple) and result[0] == "error"


def without_words(result: Any) -> Any:
    """Return *result*, an error without what it says: the words are its own in each."""
    return ("error", "") if is_error(result) else result


def compared(tally: Tally, expected: Any, *actual: Any) -> None:
    tally["examples"] += 1
    tally["errors" if is_error(expected) else "results"] += 1
    for each in actual:
        assert expected == each


def run(examples: int, example: Example, **options: Any) -> Tally:
    """Run *example* with random data as often; return what it counted."""
    tally: Tally = Counter()

    @settings(max_examples=examples, **options)
    @given(data=st.data())
    def each(data: st.DataObject) -> None:
        example(data, tally)

    each()
    print(f"{example.__qualname__}: {dict(tally)}")  # noqa: T201 (how many ran, with -s)
    return tally


def check(tally: Tally, examples: int, *reasons: str) -> None:
    """Fail if an example was left out, or compared in part for a reason that is not named."""
    assert tally["examples"] >= examples
    assert tally["examples"] == tally["results"] + tally["errors"]
    assert {"examples", "results", "errors", *reasons} >= set(tally)
    assert tally["results"] > tally["examples"] // 4


# Counters


def by_message(message: BaseMessage) -> int:
    return len(message.content) + 1


def by_order(messages: Sequence[Any]) -> int:
    return sum(place * len(each.content) for place, each in enumerate(messages, 1))


def by_whim(messages: Sequence[Any]) -> int:
    """A count that does not grow with the messages."""
    return sum(7 * len(each.content) for each in messages) % 23


class Teller:
    """A model that can count."""

    def get_num_tokens_from_messages(self, messages: Sequence[Any]) -> int:
        return sum(2 + len(str(each.content)) for each in messages)


def by_characters(messages: Sequence[Any]) -> int:
    return sum(len(ours.text_of(each)) for each in messages)


def by_words(text: str) -> list[str]:
    return [f"{word} " for word in text.split(" ")]


GOOD_COUNTERS = [len, "approximate", by_characters, by_message, by_order, by_whim, Teller()]
COUNTERS = st.sampled_from([*GOOD_COUNTERS, *GOOD_COUNTERS, "wrong", 3])


def trimming(data: st.DataObject, tally: Tally) -> None:
    specs = data.draw(st.one_of(TALKS, LONG_TALKS))
    options = {
        "max_tokens": data.draw(st.integers(-1, 60)),
        "token_counter": data.draw(COUNTERS),
        "strategy": data.draw(st.sampled_from(["last"] * 5 + ["first"] * 4 + ["middle"])),
        "allow_partial": data.draw(st.sampled_from([True, True, False])),
        "end_on": data.draw(TYPES),
        "start_on": data.draw(st.one_of(st.none(), st.none(), TYPES)),
        "include_system": data.draw(st.sampled_from([False, False, True])),
        "text_splitter": data.draw(st.sampled_from([None, None, by_words])),
    }
    expected = outcome(theirs.trim_messages, made(specs, THEIR_CLASSES), **options)
    compared(
        tally,
        expected,
        outcome(ours.trim_messages, made(specs, THEIR_CLASSES), **options),
        outcome(ours.trim_messages, made(specs, OWN_CLASSES), **options),
    )


@EXAMPLES
def test_trimming_is_the_same(examples: int) -> None:
    """The same messages stay, cut alike, and the same options exclude each other."""
    check(run(examples, trimming), examples)


WANTED_NAMES = st.none() | st.lists(st.sampled_from(["Ada", "Bob", "look"]), max_size=2)
WANTED_IDS = st.none() | st.lists(st.sampled_from(["a", "b", "c"]), max_size=2)
UNWANTED_CALLS = st.sampled_from([None, False, True, ["c1"], ("c1", "c2"), {"c3"}, [], "c1"])


def filtering(data: st.DataObject, tally: Tally) -> None:
    specs = data.draw(ANY_TALKS)
    options = {
        "include_names": data.draw(WANTED_NAMES),
        "exclude_names": data.draw(WANTED_NAMES),
        "include_types": data.draw(TYPES),
        "exclude_types": data.draw(TYPES),
        "include_ids": data.draw(WANTED_IDS),
        "exclude_ids": data.draw(WANTED_IDS),
        "exclude_tool_calls": data.draw(UNWANTED_CALLS),
    }
    expected = outcome(theirs.filter_messages, made(specs, THEIR_CLASSES), **options)
    compared(
        tally,
        expected,
        outcome(ours.filter_messages, made(specs, THEIR_CLASSES), **options),
        outcome(ours.filter_messages, made(specs, OWN_CLASSES), **options),
    )


@EXAMPLES
def test_filtering_is_the_same(examples: int) -> None:
    """The same messages are left, with the same tool calls."""
    check(run(examples, filtering), examples)


INVALID = "invalid_tool_calls"
UNREADABLE = "unreadable calls left as they are"


def merging(data: st.DataObject, tally: Tally) -> None:
    specs = data.draw(st.one_of(ANY_TALKS, RUNS))
    separator = data.draw(st.sampled_from(["\n", "", " / "]))
    options = {"chunk_separator": separator}
    results = [
        outcome(theirs.merge_message_runs, made(specs, THEIR_CLASSES), **options),
        outcome(ours.merge_message_runs, made(specs, THEIR_CLASSES), **options),
        outcome(ours.merge_message_runs, made(specs, OWN_CLASSES), **options),
    ]
    if any(each.get("invalid_tool_calls") for each in specs) and not is_error(results[0]):
        tally[UNREADABLE] += 1
        for message in (each for result in results for each in result):
            del message["tool_calls"], message["invalid_tool_calls"]
    compared(tally, *results)


@EXAMPLES
def test_merging_is_the_same(examples: int) -> None:
    """Runs become the same messages, but for unreadable tool calls, which stay unreadable."""
    check(run(examples, merging), examples, UNREADABLE)


def counting(data: st.DataObject, tally: Tally) -> None:
    specs = data.draw(st.lists(st.one_of(*[SAID] * 9, REMOVALS), max_size=7))
    options = {
        "chars_per_token": data.draw(st.sampled_from([4.0, 1, 3.3])),
        "extra_tokens_per_message": data.draw(st.sampled_from([3.0, 0, 0.1])),
        "count_name": data.draw(st.booleans()),
        "tokens_per_image": data.draw(st.sampled_from([85, 0, 7])),
        "use_usage_metadata_scaling": data.draw(st.booleans()),
        "tools": data.draw(st.sampled_from([None, [], [{"name": "look", "x": [1]}]])),
    }
    expected = outcome(their_count, made(specs, THEIR_CLASSES), **options)
    compared(
        tally,
        without_words(expected),
        *(
            without_words(outcome(ours.count_tokens_approximately, made(specs, classes), **options))
            for classes in (THEIR_CLASSES, OWN_CLASSES)
        ),
    )


@EXAMPLES
def test_counting_is_the_same(examples: int) -> None:
    """The estimate is the same number."""
    check(run(examples, counting), examples)


def rendering(data: st.DataObject, tally: Tally) -> None:
    specs = data.draw(st.lists(st.one_of(*[SAID] * 9, REMOVALS), max_size=7))
    options = {
        "human_prefix": data.draw(st.sampled_from(["Human", "Me"])),
        "ai_prefix": data.draw(st.sampled_from(["AI", "Bot"])),
        "tool_prefix": data.draw(st.sampled_from(["Tool", ""])),
        "message_separator": data.draw(st.sampled_from(["\n", "\n\n"])),
    }
    compared(
        tally,
        outcome(theirs.get_buffer_string, made(specs, THEIR_CLASSES), **options),
        outcome(ours.buffer_string, made(specs, THEIR_CLASSES), **options),
        outcome(ours.buffer_string, made(specs, OWN_CLASSES), **options),
    )


@EXAMPLES
def test_one_text_is_the_same(examples: int) -> None:
    """A conversation becomes the same text."""
    check(run(examples, rendering), examples)


def adding(data: st.DataObject, tally: Tally) -> None:
    left, right = data.draw(ANY_TALKS), data.draw(ANY_TALKS)
    results = []
    for function, classes in (
        (their_add_messages, THEIR_CLASSES),
        (ours.add_messages, THEIR_CLASSES),
        (ours.add_messages, OWN_CLASSES),
    ):
        result = outcome(function, made(left, classes), made(right, classes))
        if not is_error(result):
            for each in result:
                each["id"] = "made" if len(each["id"] or "") == 36 else each["id"]
        results.append(result)
    compared(tally, *results)


@EXAMPLES
def test_adding_is_the_same(examples: int) -> None:
    """Messages are appended, replaced and removed alike; ids that are made are compared as made."""
    check(run(examples, adding), examples)


LIKES = st.one_of(
    TEXTS,
    st.tuples(st.sampled_from(["human", "user", "ai", "assistant", "system", "developer"]), TEXTS),
    st.tuples(st.sampled_from(["tool", "critic", "remove"]), TEXTS),
    st.sampled_from([("human",), ("human", "a", "b"), 3, None, {"role": "user"}, {"content": "x"}]),
    st.lists(TEXTS, min_size=2, max_size=2),
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(["user", "human", "assistant", "ai", "system", "developer"]),
            "content": CONTENTS | st.none(),
        },
        optional={
            "name": NAMES,
            "id": IDS,
            "type": st.just("human"),
            "refusal": TEXTS,
            "additional_kwargs": KWARGS,
            "response_metadata": METADATA,
        },
    ),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["human", "system", "ai"]), "content": CONTENTS | st.none()},
        optional={"name": NAMES, "id": IDS},
    ),
    st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": CONTENTS | st.none(), "tool_calls": CALLS}
    ),
    st.fixed_dictionaries(
        {
            "role": st.just("assistant"),
            "content": st.none(),
            "tool_calls": st.lists(
                st.fixed_dictionaries(
                    {
                        "id": st.just("c1"),
                        "type": st.just("function"),
                        "function": st.fixed_dictionaries(
                            {
                                "name": st.just("look"),
                                "arguments": st.sampled_from(["{}", '{"x": 1}', "{", {"x": 2}]),
                            }
                        ),
                    }
                ),
                max_size=2,
            ),
        }
    ),
    st.fixed_dictionaries(
        {"role": st.just("tool"), "content": TEXTS},
        optional={
            "tool_call_id": st.just("c1"),
            "artifact": st.just([1]),
            "status": st.sampled_from(["error", "success", "odd"]),
        },
    ),
    st.fixed_dictionaries(
        {"role": st.just("function"), "content": TEXTS}, optional={"name": st.just("look")}
    ),
    st.sampled_from(["HumanMessage", "AIMessageChunk", "ToolMessage", "ChatMessage", "X"]).map(
        lambda name: {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", name],
            "kwargs": {
                "content": "hi",
                "id": "a",
                **({"tool_call_id": "c1"} if name == "ToolMessage" else {"type": "human"}),
            },
        }
    ),
)


def coercing(data: st.DataObject, tally: Tally) -> None:
    like = data.draw(LIKES)
    results = [
        outcome(theirs.convert_to_messages, [like]),
        outcome(ours.coerced_all, [like]),
        outcome(ours.coerced_all, [like], classes=OWN_CLASSES),
    ]
    compared(tally, *map(without_words, results))


@EXAMPLES
def test_what_stands_for_a_message_becomes_the_same(examples: int) -> None:
    """Texts, pairs and dicts become the same messages, or are refused alike."""
    check(run(examples, coercing), examples)


@EXAMPLES
def test_a_record_gives_the_message_back(examples: int) -> None:
    """Each message of each family comes back equal from a thread, as one of the other too."""
    scope = ("users", "ada")

    def recording(data: st.DataObject, tally: Tally) -> None:
        each = data.draw(st.one_of(SAID, REMOVALS))
        for classes, others in ((THEIR_CLASSES, OWN_CLASSES), (OWN_CLASSES, THEIR_CLASSES)):
            (message,) = made([each], classes)
            thread = str(tally["threads"])
            tally["threads"] += 1
            memory.append(scope, thread, [ours.record_of(message)])
            (record,) = memory.messages(scope, thread).rows

            assert message == ours.message_of(record, classes=classes)
            assert shape(message) == shape(ours.message_of(record, classes=others))
        compared(tally, None)

    with recollect.open_sync("memory:") as memory:
        check(run(examples, recording), examples, "threads")


def streaming(data: st.DataObject, tally: Tally) -> None:
    """Compare the functions on messages of which some are pieces of a stream."""
    pieces = {
        "human": theirs.HumanMessageChunk,
        "ai": theirs.AIMessageChunk,
        "system": theirs.SystemMessageChunk,
        "tool": theirs.ToolMessageChunk,
    }
    specs = data.draw(TALKS)
    are_pieces = data.draw(st.lists(st.booleans(), min_size=len(specs), max_size=len(specs)))

    def talk() -> list[Any]:
        return [
            pieces[kind](**{k: v for k, v in each.items() if k not in {"kind", INVALID}})
            if is_piece and (kind := each["kind"]) in pieces
            else made([{k: v for k, v in each.items() if k != INVALID}], THEIR_CLASSES)[0]
            for each, is_piece in zip(specs, are_pieces, strict=True)
        ]

    trimmed = {"max_tokens": 20, "token_counter": "approximate", "start_on": data.draw(TYPES)}
    filtered = {"include_types": data.draw(TYPES), "exclude_tool_calls": ["c1"]}
    for original, function, options in (
        (theirs.trim_messages, ours.trim_messages, trimmed),
        (theirs.filter_messages, ours.filter_messages, filtered),
        (theirs.merge_message_runs, ours.merge_message_runs, {}),
        (theirs.get_buffer_string, ours.buffer_string, {}),
        (their_count, ours.count_tokens_approximately, {}),
    ):
        compared(tally, outcome(original, talk(), **options), outcome(function, talk(), **options))
    both = [outcome(add, talk(), []) for add in (their_add_messages, ours.add_messages)]
    compared(tally, *([{**each, "id": None} for each in result] for result in both))


@EXAMPLES
def test_pieces_of_a_stream_are_treated_the_same(examples: int) -> None:
    """Pieces count as, and where the original makes messages of them, become, messages."""
    check(run(examples // 3, streaming), examples)


@pytest.mark.parametrize(
    ("example", "place", "mutant"),
    [
        (trimming, "context_window._most", lambda count, fits: sum(map(fits, range(2, count)))),
        (trimming, "context_window.block_text", lambda _: None),
        (trimming, "context_window._lines", str.splitlines),
        (filtering, "selection_filters.tool_call_id_of", lambda _: None),
        (filtering, "selection_filters._is_use", lambda *_: False),
        (merging, "message_runs._best_id", lambda first, _: first),
        (merging, "message_runs._LATER", frozenset()),
        (merging, "message_runs._index_of_same", lambda *_: None),
        (counting, "token_counters._SCALE_MAX", 2.0),
        (counting, "token_counters._is_text", lambda _: False),
        (rendering, "transcript.text_of", lambda message: str(message.content)),
        (adding, "reducers._sweeps", lambda _: False),
        (coercing, "coercion.KIND_OF_ROLE", {"user": "human", "assistant": "ai"}),
    ],
)
def test_a_function_that_differs_is_noticed(
    example: Example, place: str, mutant: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The comparison sees each of these mistakes."""
    monkeypatch.setattr(f"recollect.messages.{place}", mutant)

    with pytest.raises((AssertionError, AttributeError, KeyError)):
        run(1_000, example, phases=[Phase.generate], database=None, report_multiple_bugs=False)
