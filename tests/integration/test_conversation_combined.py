"""Several memories as one: their variables together, within one budget."""

import warnings
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recollect
from recollect import UsageError
from recollect.conversation import (
    CombinedMemory,
    ConversationBufferMemory,
    ConversationSummaryBufferMemory,
    ConversationSummaryMemory,
    ReadOnlySharedMemory,
    SimpleMemory,
    VectorStoreRetrieverMemory,
)
from recollect.conversation.prompt_parts import PromptPart, as_messages, groups_of, part_of, within
from recollect.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage, buffer_string
from recollect.records import JsonObject
from recollect.testing import ScriptedModel


def words(text: str) -> int:
    return len(text.split())


def talked(*turns: tuple[str, str], key: str = "history") -> ConversationBufferMemory:
    memory = ConversationBufferMemory(input_key="input", memory_key=key)
    for asked, answered in turns:
        memory.save_context({"input": asked}, {"output": answered})
    return memory


async def test_each_loads_its_own_and_saves_every_turn() -> None:
    """By both faces, in the order of the memories."""
    one, other = talked(key="one"), talked(key="other")
    both = CombinedMemory([one, SimpleMemory({"tone": "brief"}), other])

    both.save_context({"input": "Hello"}, {"output": "Hi"})
    await both.asave_context({"input": "And?"}, {"output": "Bye"})

    said = "Human: Hello\nAI: Hi\nHuman: And?\nAI: Bye"
    expected = {"one": said, "tone": "brief", "other": said}
    assert ["one", "tone", "other"] == both.memory_variables
    assert expected == both.load_memory_variables({"input": "x"})
    assert expected == await both.aload_memory_variables({"input": "x"})
    both.clear()
    assert "" == one.load_memory_variables({})["one"]


def test_equal_variables_are_refused() -> None:
    """The originals' rule: two memories cannot fill one place of a prompt."""
    with pytest.raises(UsageError, match="history"):
        CombinedMemory([talked(), talked()])


def test_a_guessed_input_key_is_warned_of() -> None:
    """Among several memories the inputs hold the others' variables, too."""
    with pytest.warns(UserWarning, match="input_key of ConversationBufferMemory"):
        CombinedMemory([ConversationBufferMemory(), SimpleMemory({"a": 1})])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CombinedMemory([talked(), SimpleMemory({"a": 1})])


def test_variables_that_would_be_kept_as_input_are_warned_of() -> None:
    """A chain saves them with the turn, and the retriever keeps all that it is given."""
    found = VectorStoreRetrieverMemory(memory_key="found", input_key="input")
    memories = [found, SimpleMemory({"tone": "brief"}), talked()]

    with pytest.warns(UserWarning, match=r"exclude_input_keys to \['history', 'tone'\]"):
        CombinedMemory(memories)

    found.exclude_input_keys = ("history", "tone")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        both = CombinedMemory(memories)
    inputs = {"input": "Where is Bergen?", **both.load_memory_variables({"input": "x"})}
    both.save_context(inputs, {"output": "In Norway."})
    kept = found.load_memory_variables({"input": "Bergen"})["found"]
    assert "input: Where is Bergen?\noutput: In Norway." == kept


async def test_a_budget_drops_the_least_important_first() -> None:
    """The oldest messages of the variable that is named last, then of the one before it."""
    near = talked(("one two", "three"), ("four", "five six"), key="near")
    far = talked(("seven", "eight"), ("nine", "ten"), key="far")
    both = CombinedMemory([near, far], max_token_limit=14, count_tokens=words)

    assert {
        "near": "Human: one two\nAI: three\nHuman: four\nAI: five six",
        "far": "Human: nine\nAI: ten",
    } == both.load_memory_variables({"input": "x"})

    both.max_token_limit = 5
    expected = {"near": "Human: four\nAI: five six", "far": ""}
    assert expected == both.load_memory_variables({"input": "x"})
    assert expected == await both.aload_memory_variables({"input": "x"})

    both.priority = ["far", "near"]
    expected = {"near": "", "far": "Human: nine\nAI: ten"}
    assert expected == both.load_memory_variables({"input": "x"})


def test_a_budget_drops_a_summary_last() -> None:
    """It is all that is left of what was said before; the original of its words goes first."""
    model = ScriptedModel(lambda _: "A summary.")
    memory = ConversationSummaryBufferMemory(
        llm=model, max_token_limit=6, count_tokens=words, input_key="input"
    )
    for said in ("one", "two", "three"):
        memory.save_context({"input": said}, {"output": "and"})
    both = CombinedMemory([memory], max_token_limit=20, count_tokens=words)

    whole = both.load_memory_variables({})
    both.max_token_limit = 5
    left = both.load_memory_variables({})

    assert whole == memory.load_memory_variables({})
    assert {"history": "System: A summary.\nAI: and"} == left


@pytest.mark.parametrize("return_messages", [False, True])
def test_a_budget_that_suffices_changes_nothing(*, return_messages: bool) -> None:
    """A summary looks as it does without one: before it is made, alone, and before messages."""
    memory = ConversationSummaryMemory(
        llm=ScriptedModel(lambda _: "A summary."),
        every_turns=2,
        return_messages=return_messages,
        input_key="input",
    )
    both = CombinedMemory([memory], max_token_limit=1_000)

    for said in ("one", "two", "three"):
        assert memory.load_memory_variables({}) == both.load_memory_variables({})
        memory.save_context({"input": said}, {"output": "and"})
    assert memory.load_memory_variables({}) == both.load_memory_variables({})


async def test_a_budget_cuts_what_is_only_read_entry_by_entry() -> None:
    """A reader is left out message by message, as the memory behind it would be."""
    memory = talked(("one two", "three"), ("four", "five six"))
    both = CombinedMemory([ReadOnlySharedMemory(memory)], max_token_limit=5, count_tokens=words)

    expected = {"history": "Human: four\nAI: five six"}
    assert expected == both.load_memory_variables({"input": "x"})
    assert expected == await both.aload_memory_variables({"input": "x"})


def test_turns_that_would_be_kept_twice_are_warned_of() -> None:
    """Two memories that write one thread; not two threads, nor a reader."""
    with recollect.open_sync(embedder="none", worker=False) as memory:
        at = (memory, ("users", "ada"))
        near = ConversationBufferMemory(*at, "talk", memory_key="near", input_key="input")
        found = VectorStoreRetrieverMemory(*at, "talk")
        found.exclude_input_keys = ("near",)
        apart = VectorStoreRetrieverMemory(*at, "exchanges", exclude_input_keys=["near"])

        with pytest.warns(UserWarning, match="twice: wrap one of them in a ReadOnlySharedMemory"):
            CombinedMemory([near, found])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            CombinedMemory([near, apart])
            CombinedMemory([near, ReadOnlySharedMemory(found)])


def test_a_priority_names_each_variable_once() -> None:
    """A name that is missing or unknown is told."""
    with pytest.raises(UsageError, match="exactly once"):
        CombinedMemory([talked()], priority=["history", "histories"])


CALL: JsonObject = {"name": "look", "args": {}, "id": "c"}
TURNS = st.lists(
    st.sampled_from(
        [
            [HumanMessage("a question of some words")],
            [AIMessage("an answer")],
            [AIMessage("", tool_calls=[CALL]), ToolMessage("what was found", tool_call_id="c")],
        ]
    ),
    max_size=8,
)


@given(one=TURNS, other=TURNS, limit=st.integers(0, 60))
def test_a_budget_never_splits_a_pair(
    one: list[list[AnyMessage]], other: list[list[AnyMessage]], limit: int
) -> None:
    """What stays fits, is an end of what there was, and holds no result without its call."""
    given_ = {"one": [*chain(*one)], "other": [*chain(*other)]}
    parts = {name: PromptPart(groups_of(each), as_messages) for name, each in given_.items()}

    left = within(parts, limit, words, ["one", "other"])

    assert limit >= sum(words(buffer_string([each])) for kept in left.values() for each in kept)
    for name, kept in left.items():
        assert kept == given_[name][len(given_[name]) - len(kept) :]
        assert not kept or kept[0].type != "tool"


def test_a_value_of_any_kind_is_a_part() -> None:
    """A text stays whole or goes, a mapping goes entry by entry, anything else as it is."""
    assert "a text" == part_of("a text").render(part_of("a text").entries)
    part = part_of({"Bea": "a sister", "Bergen": "a town"})
    assert {"Bergen": "a town"} == part.render(part.entries[1:])
    assert part_of(7).render([]) is None


async def test_a_shared_memory_is_only_read() -> None:
    """Saving and clearing through the reader change nothing."""
    memory = talked(("Hello", "Hi"))
    reader = ReadOnlySharedMemory(memory)

    reader.save_context({"input": "x"}, {"output": "y"})
    await reader.asave_context({"input": "x"}, {"output": "y"})
    reader.clear()
    await reader.aclear()

    assert {"history": "Human: Hello\nAI: Hi"} == reader.load_memory_variables({})
    assert ["history"] == reader.memory_variables


def test_an_exchange_is_found_by_either_side() -> None:
    """And stands in the prompt as one, once."""
    memory = VectorStoreRetrieverMemory(k=1)
    memory.save_context({"input": "My sister makes cheese"}, {"output": "Which kind?"})
    memory.save_context({"input": "Rain again", "city": "Bergen"}, {"output": "As always"})

    by_question = memory.load_memory_variables({"input": "Who makes cheese?"})
    by_answer = memory.load_memory_variables({"input": "Which kind was that?"})
    of_many = memory.load_memory_variables({"input": "Bergen"})

    assert {"history": "input: My sister makes cheese\noutput: Which kind?"} == by_question
    assert by_question == by_answer
    assert {"history": "input: Rain again\ncity: Bergen\noutput: As always"} == of_many


def test_the_exchanges_of_other_threads_bear_on_the_input() -> None:
    """Also those that another memory kept in the scope, in whatever form."""
    memory = VectorStoreRetrieverMemory(k=1, return_docs=True)
    talk = ConversationBufferMemory(memory.home.memory, memory.scope, "elsewhere")
    talk.save_context({"question": "I moved to Tromsø"}, {"answer": "So far north!"})

    (found,) = memory.load_memory_variables({"input": "Who lives in Tromsø?"})["history"]

    assert "input: I moved to Tromsø\noutput: So far north!" == found.page_content
    assert "elsewhere" == found.metadata["thread"]


def test_an_exchange_without_words_is_refused() -> None:
    """Nothing is kept of it."""
    memory = VectorStoreRetrieverMemory()

    with pytest.raises(UsageError, match="no text"):
        memory.save_context({"input": " "}, {"output": ""})

    memory.clear()
    assert {"history": ""} == memory.load_memory_variables({"input": "anything"})
