"""Examples from a program: without ``await``, by meaning, and through LangChain."""

import inspect
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from langchain_core.example_selectors import BaseExampleSelector
from langchain_core.prompts import FewShotPromptTemplate, PromptTemplate

import recollect
from benchmarks.conversation_files import BenchmarkQuestion, RowFields
from benchmarks.example_selection import ExamplesPlan, above, examples_page, run, split
from recollect import UsageError
from recollect.agents.examples import Examples
from recollect.errors import MissingKeyError
from recollect.integrations.langchain import RecollectExampleSelector
from recollect.testing import HashedEmbedder

ADA = ("users", "ada")
FACES = ["add", "add_feedback", "select", "page", "erase", "export_lines", "import_lines"]


@pytest.mark.parametrize("url", ["memory:", "examples.db"])
def test_examples_are_kept_and_selected_without_await(url: str, tmp_path: Path) -> None:
    address = url if url == "memory:" else str(tmp_path / url)
    with recollect.open_sync(address, embedder="none", worker=False) as memory:
        examples = Examples(memory, ADA)
        kept = examples.add("cancel the order", "refund", reason="it has not left")

        assert (kept,) == examples.select("cancel my order").examples
        assert (kept,) == examples.page().rows
        assert 1 == examples.import_lines(examples.export_lines()).unchanged
        examples.erase(kept.key)
        assert () == examples.select("cancel my order").examples


@pytest.mark.parametrize("name", FACES)
def test_both_faces_take_the_same(name: str) -> None:
    waiting, awaited = getattr(Examples, name), getattr(Examples, f"a{name}")

    assert inspect.signature(waiting) == inspect.signature(awaited)
    assert (name, f"a{name}") == (waiting.__name__, awaited.__name__)


def test_meaning_and_words_find_different_examples() -> None:
    """By words only whole words count, by meaning (here: spelling) also their relatives."""
    with recollect.open_sync(embedder=HashedEmbedder(), worker=False) as memory:
        examples = Examples(memory, ADA)
        examples.add("photographic equipment, unsorted", "by meaning")
        examples.add("zebra enclosure", "by words")
        memory.settled(ADA)

        by_meaning = examples.select("photograph equip zebra", count=1, by="meaning")
        by_words = examples.select("photogr equipm zebra", count=1, by="words")

        assert ["by meaning"] == [each.output for each in by_meaning.examples]
        assert ["by words"] == [each.output for each in by_words.examples]


def test_a_few_shot_prompt_of_langchain_selects_ours() -> None:
    with recollect.open_sync(embedder="none", worker=False) as memory:
        selector = RecollectExampleSelector(
            Examples(memory, ADA), input_key="word", output_key="antonym", count=2
        )
        for word, antonym in (("tall order", "short order"), ("hot tea", "cold tea")):
            selector.add_example({"word": word, "antonym": antonym})
        prompt = FewShotPromptTemplate(
            example_selector=selector,
            example_prompt=PromptTemplate.from_template("{word} -> {antonym}"),
            suffix="{word} ->",
            input_variables=["word"],
            example_separator="\n",
        )

        said = prompt.format(word="hot soup")

    assert isinstance(selector, BaseExampleSelector)
    assert "tall order -> short order\nhot tea -> cold tea\nhot soup ->" == said


@pytest.mark.parametrize(
    "option", [{"count": 0}, {"by": "chance"}, {"diversity": 2}, {"tags": "tea"}, {"min_score": 7}]
)
def test_a_selector_refuses_its_options_at_once(option: Any) -> None:
    """Not when the first prompt is made."""
    with recollect.open_sync(embedder="none", worker=False) as memory:
        with pytest.raises(UsageError):
            RecollectExampleSelector(Examples(memory, ADA), **option)
        with pytest.raises(TypeError, match="unexpected keyword argument 'limit'"):
            RecollectExampleSelector(Examples(memory, ADA), limit=3)  # type: ignore[call-arg]


async def test_a_prompt_without_an_input_shows_no_examples() -> None:
    """As a retriever finds nothing for it: what a person sends must not end a chain."""
    with recollect.open_sync(embedder="none", worker=False) as memory:
        selector = RecollectExampleSelector(Examples(memory, ADA))
        selector.add_example({"input": "hot", "output": "cold"})

        assert [] == selector.select_examples({"input": " \n"})
        assert [] == await selector.aselect_examples({"input": ""})


async def test_the_selector_is_awaited_over_a_memory_to_await() -> None:
    async with recollect.open(embedder="none", worker=False) as memory:
        selector = RecollectExampleSelector(Examples(memory, ADA))
        await selector.aadd_example({"input": "hot", "output": "cold", "reason": "opposite"})

        found = await selector.aselect_examples({"question": "hot?"})

        assert [{"input": "hot", "output": "cold", "reason": "opposite"}] == found
        with pytest.raises(UsageError, match="awaited"):
            selector.select_examples({"question": "hot?"})
        with pytest.raises(MissingKeyError, match="no 'output'"):
            await selector.aadd_example({"input": "hot"})
        with pytest.raises(UsageError, match="input_key"):
            await selector.aselect_examples({"a": "x", "b": "y"})


def test_the_interval_of_a_sure_gain_is_above_zero_and_of_none_is_not() -> None:
    """Both ways equal, the interval holds 0; one right where the other is not, it does not."""
    units = [["a"] * 20 + ["b"] * 20] * 5
    some = [[float(at % 2) for at in range(40)]] * 5
    none = [[0.0] * 40] * 5

    assert (0.0, 0.0, 0.0) == above(some, some, units)
    assert above(some, none, units)[1] > 0


def test_a_split_shares_no_conversation() -> None:
    """Neither side has a question of a conversation of the other, and no question is lost."""
    fields = RowFields("made up", {})
    questions = [
        BenchmarkQuestion(
            question_id=f"{conversation}:{at}",
            conversation_id=conversation,
            text="?",
            category="x",
            evidence=(),
            extras=fields,
        )
        for conversation in "abcde"
        for at in range(3)
    ]

    pool, held = split(questions, 1)

    assert (9, 6) == (len(pool), len(held))
    assert set() == {e.conversation_id for e in pool} & {e.conversation_id for e in held}
    assert (pool, held) == split(questions, 1)


def written_set(folder: Path, questions_each: int) -> Path:
    """Write four made-up conversations, whose questions' first words give their categories."""
    asked = {"when": "temporal", "who": "single_hop", "why": "open_domain"}
    rows: list[dict[str, object]] = [
        {
            "question_id": f"{talk}:{at}",
            "conversation_id": talk,
            "question": f"{word} was number {at} of {talk} seen",
            "category": asked[word],
            "evidence": [],
            "evidence_sessions": [],
        }
        for talk in ("t1", "t2", "t3", "t4")
        for at, word in enumerate((list(asked) * questions_each)[:questions_each])
    ]
    folder.joinpath("questions.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    folder.joinpath("conversations.jsonl").write_text("", "utf-8")
    return folder


def test_the_benchmark_needs_enough_inputs(tmp_path: Path) -> None:
    plan = ExamplesPlan(data=written_set(tmp_path, 5))

    with pytest.raises(UsageError, match="10 inputs are held out; 200 are needed"):
        anyio.run(run, plan, lambda _said: None)
    with pytest.raises(UsageError, match="SEEDS_MIN"):
        anyio.run(run, replace(plan, seeds=2), lambda _said: None)


def test_the_benchmark_tells_selection_from_its_controls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where words give the category away, selection is surely above the random control."""
    monkeypatch.setattr("benchmarks.example_selection.INPUTS_MIN", 20)
    plan = ExamplesPlan(data=written_set(tmp_path, 15), count=1)

    report = anyio.run(run, plan, lambda _said: None)

    rows = {row.way: row for row in report.rows}
    assert "selected" == report.rows[0].way
    assert rows["random"].above is not None
    assert rows["random"].above[1] > 0
    assert all(row.way in examples_page(report) for row in report.rows)
    assert 150 == report.as_json()["inputs"]
