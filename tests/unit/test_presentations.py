"""Memories are shown in three ways, each as text and as messages: data, instructions, examples."""

from recollect.agents.examples import Chosen, Example, Selection
from recollect.agents.instructions import Prompt
from recollect.recall.rendering import Record
from recollect.recall.results import Recall, Recalled
from tests.harness.rendered_blocks import read_block
from tests.harness.sample_contents import sample_message


def recall_of(*texts: str) -> Recall:
    entries = tuple(
        Recalled(
            scope=("users", "ada"),
            content=sample_message(id=str(at), position=at, text=text, session="1"),
            score=1.0,
            signals={},
        )
        for at, text in enumerate(texts, 1)
    )
    return Recall(
        query="?",
        entries=entries,
        dropped=(),
        tokens=0,
        searched=len(texts),
        eligible=len(texts),
        embedder=None,
    )


def test_recall_is_data() -> None:
    """One block, in which a record is a line; as a message it is a person's."""
    recall = recall_of("I live in Oslo")

    (message,) = recall.messages()

    expected = [Record(source="talk/1", date="2024-05-06 12:00", who="user", text="I live in Oslo")]
    assert expected == read_block(recall.render())
    assert ("human", expected) == (message.type, read_block(str(message.content)))


def test_instructions_are_a_system_message() -> None:
    """One rule a line."""
    prompt = Prompt(fixed=("Promise nothing",), rules=("Be brief",))

    (message,) = prompt.messages()

    assert "- Promise nothing\n- Be brief" == prompt.render()
    assert ("system", prompt.render()) == (message.type, message.content)


def test_examples_are_data_or_turns() -> None:
    """As text they are a block; as messages, turns with the reason before the output."""
    example = Example(input="Lost parcel", output="delivery", reason="it was sent")
    chosen = Selection(input="Parcel?", chosen=(Chosen(example=example, relevance=1.0),), tokens=0)

    shown = [(each.who, each.text) for each in read_block(chosen.render())]

    assert [("input", "Lost parcel"), ("reason", "it was sent"), ("output", "delivery")] == shown
    assert [("human", "Lost parcel"), ("ai", "it was sent\n\ndelivery")] == [
        (each.type, each.content) for each in chosen.messages()
    ]


def test_what_is_empty_adds_no_message() -> None:
    nothing = [
        recall_of().messages(),
        Prompt(fixed=(), rules=()).messages(),
        Selection(input="?", chosen=(), tokens=0).messages(),
    ]

    assert [[], [], []] == nothing
