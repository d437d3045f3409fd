"""What a model is shown of the talks by which it is to improve instructions."""

from recollect.agents.instructions.instruction_records import Trajectory
from recollect.agents.instructions.reflection import TALKS_CHARACTERS_MAX, request_of
from recollect.recall.rendering import Record
from tests.harness.rendered_blocks import read_block


def shown(*talks: Trajectory) -> list[Record]:
    """Return the records of the talks in what a model is asked."""
    text = request_of((), ("Be brief",), talks).turns[0].text
    return list(read_block(text.partition("The talks:\n")[2]))


def test_a_long_talk_is_shown_from_its_end() -> None:
    """With its feedback, and how much is left out; all talks have equal room."""
    lines = [("user", f"{number} {'x' * 1_000}") for number in range(500)]
    long = Trajectory(lines=tuple(lines), feedback="too slow", score=0.5)
    short = Trajectory(lines=(("user", "hi"),))

    records = shown(long, short)

    of_long = [each for each in records if each.source == "talk 1"]
    assert ["note", "feedback", "score"] == [of_long[at].who for at in (0, -2, -1)]
    kept = of_long[1:-2]
    assert lines[-1][1] == kept[-1].text
    assert f"{500 - len(kept)} messages before these are left out" == of_long[0].text
    assert 0.9 < sum(len(each.text) for each in kept) / (TALKS_CHARACTERS_MAX / 2) <= 1
    assert ["hi"] == [each.text for each in records if each.source == "talk 2"]


def test_of_one_endless_message_its_end_is_shown() -> None:
    (only,) = shown(Trajectory(lines=(("user", "a" * TALKS_CHARACTERS_MAX + "the end"),)))

    assert only.text.endswith("athe end")
    assert TALKS_CHARACTERS_MAX == len(only.text)
