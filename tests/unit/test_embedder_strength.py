"""How much an embedder weighs: declared, tuned on a sample, and never without a reason."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

import recollect
from benchmarks.embedder_strength import OracleEmbedder
from recollect import LimitError, SampleQuestion, UsageError
from recollect.cli import main
from recollect.embedders import open_embedder
from recollect.evaluation.recall_sample import load_sample
from recollect.recall.fusion import WEIGHTS, WEIGHTS_WITHOUT_VECTOR, Weights, weights_at
from recollect.recall.strength import STRENGTHS, declared_strength
from recollect.recall.strength_choice import SampleScores, chosen_strength, gain_of
from recollect.recall.strength_sample import (
    SAMPLE_QUESTIONS_MAX,
    SAMPLE_QUESTIONS_MIN,
    check_sample,
)
from recollect.wire.recalls import recall_to_json
from tests.harness.judging_embedders import (
    ADA,
    TALK,
    JudgingEmbedder,
    question,
    said,
    sample,
    wordy_sample,
)

USUAL = STRENGTHS.index(1.0)


def scores_of(gains: dict[float, float], count: int, noise: float) -> SampleScores:
    """Return scores of which each strength has a mean, around which chance moves questions."""
    chance = np.random.default_rng(3)
    gain = np.full((count, len(STRENGTHS)), 0.5) + noise * chance.standard_normal(
        (count, len(STRENGTHS))
    )
    for strength, more in gains.items():
        gain[:, STRENGTHS.index(strength)] += more
    return SampleScores(recall=gain, gain=gain)


# The weights


def test_the_usual_strength_changes_nothing() -> None:
    """Its weights are the objects themselves, so that each score is the same to the last bit."""
    assert weights_at(1.0).having is WEIGHTS
    assert weights_at(1.0).without is WEIGHTS_WITHOUT_VECTOR


def test_at_no_strength_all_entries_are_ranked_by_words() -> None:
    found = weights_at(0.0)

    assert found == Weights(WEIGHTS_WITHOUT_VECTOR, WEIGHTS_WITHOUT_VECTOR)


@given(st.sampled_from(STRENGTHS), st.sampled_from(STRENGTHS))
def test_a_greater_strength_gives_vectors_a_greater_share(one: float, other: float) -> None:
    """And the scale of scores stays between that of words and the usual one."""
    low, high = sorted((one, other))
    shares, sums = [], []
    for weights in (weights_at(low).having, weights_at(high).having):
        told = {each: weights[each] for each in ("dense", "session_dense", "entry", "window")}
        sums.append(sum(told.values()) + weights["session"])
        shares.append((told["dense"] + told["session_dense"]) / sums[-1])

    assert shares[0] <= shares[1]
    assert all(0.599 <= each <= 0.751 for each in sums)


# The choice


def test_a_strength_that_clearly_helps_is_chosen() -> None:
    choice = chosen_strength(scores_of({2.0: 0.2}, 60, 0.1), 1.0)

    assert (choice.strength, choice.helps) == (2.0, True)
    assert choice.after > choice.before


@pytest.mark.parametrize("seed", range(3))
def test_chance_alone_is_hardly_ever_believed(seed: int) -> None:
    """Where all strengths are alike, the one in force stays in all but few of many samples."""
    chance = np.random.default_rng(seed)
    believed = 0
    for _ in range(20):
        gain = chance.random((20, len(STRENGTHS)))
        believed += chosen_strength(SampleScores(recall=gain, gain=gain), 1.0).helps

    assert believed <= 4


def test_a_strength_that_helps_only_where_it_was_chosen_is_refused() -> None:
    """One question that gains much is held out once, and then nothing else speaks for it."""
    gain = np.full((40, len(STRENGTHS)), 0.5)
    gain[:, STRENGTHS.index(4.0)] -= 0.001
    gain[7, STRENGTHS.index(4.0)] += 0.5
    choice = chosen_strength(SampleScores(recall=gain, gain=gain), 1.0)

    assert (choice.strength, choice.helps) == (1.0, False)
    assert choice.after == choice.before


def test_more_gain_with_less_recall_is_refused() -> None:
    gain = scores_of({0.5: 0.3}, 40, 0.05).gain
    recall = np.zeros_like(gain)
    recall[:, USUAL] = 1.0

    assert not chosen_strength(SampleScores(recall=recall, gain=gain), 1.0).helps


@given(st.sets(st.integers(0, 50), min_size=1, max_size=8))
def test_the_gain_is_a_share_and_whole_only_for_the_best_ranks(ranks: set[int]) -> None:
    gain = gain_of(np.array(sorted(ranks)))

    assert 0 < gain <= 1 + 1e-9
    assert (gain > 1 - 1e-9) == (ranks == set(range(len(ranks))))


# What is declared


@pytest.mark.parametrize(("declares", "weighs"), [("weak", 0.25), ("strong", 2.0), (None, 1.0)])
def test_an_embedder_declares_its_class(declares: object, weighs: float) -> None:
    """As an object, and as a function with an attribute."""
    embedder = JudgingEmbedder(knows=True, strength=declares)

    def embed(texts: list[str]) -> object:
        return embedder.embed(texts)

    embed.strength = declares  # type: ignore[attr-defined]
    for each in (embedder, embed):
        with recollect.open_sync("memory:", embedder=each) as memory:
            assert memory.strength == weighs


def test_words_alone_have_no_strength() -> None:
    with recollect.open_sync("memory:", embedder="none") as memory:
        assert memory.strength is None
        with pytest.raises(UsageError, match="no embedder is in use"):
            memory.tune(sample())


@pytest.mark.parametrize("wrong", ["huge", 2.0, "", ["strong"]])
def test_another_class_is_refused(wrong: object) -> None:
    opened = open_embedder(JudgingEmbedder(knows=True, strength=wrong))

    with pytest.raises(UsageError, match="declares the strength"):
        declared_strength(opened)


# Tuning


def test_the_right_strength_wins_by_itself() -> None:
    """More for one that knows, less for one that does not, and each finds more than before."""
    found = []
    for embedder, questions in (
        (JudgingEmbedder(knows=True, noise=1.2), sample()),
        (JudgingEmbedder(knows=False), wordy_sample()),
    ):
        with recollect.open_sync("memory:", embedder=embedder) as memory:
            memory.append(ADA, TALK, said())
            found.append(memory.tune(questions))

    strong, weak = found
    assert weak.strength < 1 < strong.strength
    assert strong.after > strong.before + 0.1
    assert weak.after > weak.before + 0.1


def test_the_reasons_show_the_weights_that_ranked() -> None:
    """Value times weight is the part, at each strength."""
    embedder = JudgingEmbedder(knows=True, noise=1.2)
    with recollect.open_sync("memory:", embedder=embedder) as memory:
        memory.append(ADA, TALK, said())
        memory.settled(ADA)
        usual = recall_to_json(memory.recall(ADA, question(5), limit=1))
        memory.tune(sample())
        tuned = recall_to_json(memory.recall(ADA, question(5), limit=1))

    values: list[Any] = [
        {each["name"]: each for each in json.loads(json.dumps(answer))["entries"][0]["signals"]}
        for answer in (usual, tuned)
    ]
    assert values[0]["dense"]["weight"] == WEIGHTS["dense"]
    assert values[1]["dense"]["weight"] > WEIGHTS["dense"]
    for each in values[1].values():
        assert abs(each["z"] * each["weight"] - each["part"]) < 1e-3


def test_a_dry_run_keeps_nothing() -> None:
    with recollect.open_sync("memory:", embedder=JudgingEmbedder(knows=True, noise=1.2)) as memory:
        memory.append(ADA, TALK, said())
        found = memory.tune(sample(), keep=False)

        assert (found.is_kept, memory.strength) == (False, 1.0)
        assert found.strength > 1


# Bad samples


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"messages": ["nobody"]}, r"line 1: the scope 'users/ada' has no message 'nobody'"),
        ({"scope": ["users", "bob"]}, r"line 1: the scope 'users/bob' has no message 'm0'"),
        ({"thread": "other"}, r"the thread 'other' of the scope 'users/ada' has no message 'm0'"),
        ({"messages": [], "memories": ["Note/x"]}, r"has no memory 'Note/x' that is in force"),
        ({"messages": []}, r"line 1: it names nothing that should be found"),
        ({"messages": "m0"}, r'its "messages" are .m0., not a list of texts'),
        ({"memories": ["x"]}, r"'x' names no memory: write TYPE/KEY"),
        ({"query": " "}, r"line 1: the query is empty"),
        ({"query": 3}, r'its "query" is 3, not a text'),
        ({"scope": 3}, r'its "scope" is 3, not a text'),
        ({"scope": []}, r'its "scope" is \[\], not a text'),
        ({"thread": 3}, r'its "thread" is 3, not a text'),
        ({"asked_at": "soon"}, r'its "asked_at" is .soon., not a time'),
        ({"message": "m0"}, r"it has the field 'message'; there are query"),
        ({"query": question(7)}, r"line 8: it asks the same as line 1"),
    ],
)
def test_a_sample_may_be_refused(row: dict[str, Any], why: str, tmp_path: Path) -> None:
    """One error that names the line, before anything is embedded or kept."""
    embedder = JudgingEmbedder(knows=True)
    with recollect.open_sync("memory:", embedder=embedder) as memory:
        memory.append(ADA, TALK, said())
        file = written(tmp_path, [rows()[0] | row, *rows()[1:]])
        with pytest.raises(UsageError, match=why):
            memory.tune(load_sample(file))


def rows() -> list[dict[str, Any]]:
    """Return the sample as rows of a file."""
    return [
        {"query": each.query, "scope": list(ADA), "messages": list(each.messages)}
        for each in sample()
    ]


def written(folder: Path, lines: list[dict[str, Any]]) -> Path:
    """Return a file of *lines*."""
    file = folder / "sample.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in lines), "utf-8")
    return file


def test_the_error_of_many_wrong_ids_shows_a_few() -> None:
    with recollect.open_sync("memory:", embedder=JudgingEmbedder(knows=True)) as memory:
        memory.append(ADA, TALK, said()[:3])
        with pytest.raises(UsageError, match=r"^the .*|40 of the entries .* and 35 more$"):
            memory.tune(sample())


def test_a_message_of_two_threads_needs_its_thread() -> None:
    """One that is named finds it."""
    with recollect.open_sync("memory:", embedder=JudgingEmbedder(knows=True)) as memory:
        memory.append(ADA, TALK, said())
        memory.append(ADA, "again", said()[-40:])
        with pytest.raises(UsageError, match="2 threads have a message 'm0': name its thread"):
            memory.tune(sample())
        named = [
            SampleQuestion(query=each.query, scope=ADA, messages=each.messages, thread=TALK)
            for each in sample()
        ]
        assert memory.tune(named, keep=False).questions == 40


def test_memories_are_named_by_type_and_key() -> None:
    with recollect.open_sync("memory:", embedder=JudgingEmbedder(knows=True)) as memory:
        memory.append(ADA, TALK, said())
        memory.put(ADA, "Note", "red", {"content": "The boat is red."})
        more = {"query": "Which colour has the boat?", "scope": ADA, "memories": ["Note/red"]}

        assert memory.tune([*sample(), more], keep=False).questions == 41


@pytest.mark.parametrize("count", [0, 1, SAMPLE_QUESTIONS_MIN - 1])
def test_a_small_sample_is_refused(count: int) -> None:
    with pytest.raises(UsageError, match=f"the sample has {count} questions"):
        check_sample(sample(count))


def test_a_huge_sample_is_refused_before_it_is_read_to_its_end(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [
        {"query": f"What is {number}?", "scope": "ada", "messages": ["m1"]}
        for number in range(100_000)
    ]
    file = written(tmp_path, lines)

    with pytest.raises(LimitError, match="SAMPLE_QUESTIONS_MAX is 10000"):
        load_sample(file)
    with pytest.raises(LimitError, match=f"{SAMPLE_QUESTIONS_MAX + 1}; the limit"):
        check_sample(lines)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "the sample has 0 questions"),
        ("[1]\n", "line 1: it is not a JSON object"),
        ("{\n", "line 1: it is not JSON"),
        ("[" * 100_000 + "\n", "line 1: "),
        (b"\xff\xfe\n", "line 1: it is not JSON"),
    ],
)
def test_a_file_that_is_no_sample_is_refused(
    content: str | bytes, why: str, tmp_path: Path
) -> None:
    file = tmp_path / "sample.jsonl"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())

    with pytest.raises(UsageError, match=why):
        check_sample(load_sample(file))


# The command


def invoke(store: Path, *arguments: str) -> Result:
    """Run a command with an embedder that knows."""
    name = "tests.unit.test_embedder_strength:STRONG"
    return CliRunner(env={"RECOLLECT_EMBEDDER": name, "RECOLLECT_STORE": str(store)}).invoke(
        main, list(arguments)
    )


STRONG = JudgingEmbedder(knows=True, noise=1.2)


def test_the_command_tunes_shows_and_forgets(tmp_path: Path) -> None:
    """The strength is in a backup that was restored as well."""
    store, other = tmp_path / "one.db", tmp_path / "two.db"
    with recollect.open_sync(str(store), embedder=STRONG) as memory:
        memory.append(ADA, TALK, said())
    lines = [{"query": e["query"], "messages": e["messages"]} for e in rows()]
    file = str(written(tmp_path, lines))

    tuned = invoke(store, "tune", "--sample", file, "--scope", "users/ada", "--table")
    doctor = invoke(store, "doctor", "--json")
    invoke(store, "backup", str(tmp_path / "b.db"))
    invoke(other, "restore", str(tmp_path / "b.db"), "--no-ledger")
    with recollect.open_sync(str(other), embedder=STRONG) as memory:
        restored = memory.strength
    forgotten = invoke(store, "tune", "--forget")
    again = invoke(store, "tune", "--forget")

    assert tuned.exit_code == 0, tuned.output
    assert "kept with the store" in tuned.stderr
    assert "recall@10 before    0.725" in tuned.stdout
    assert "tuned on 40 questions" in json.loads(doctor.stdout)["strengths"][STRONG.identity]
    assert restored is not None
    assert restored > 1
    assert (0, 3) == (forgotten.exit_code, again.exit_code)


def test_the_command_needs_one_thing_to_do(tmp_path: Path) -> None:
    assert invoke(tmp_path / "no.db", "tune").exit_code == 2
    assert invoke(tmp_path / "no.db", "tune", "--sample", "x", "--forget").exit_code == 2


def test_show_tells_what_a_store_keeps_of_an_embedder(tmp_path: Path) -> None:
    """By its identity; of an embedder of one's own, what the store keeps of all."""
    store = tmp_path / "one.db"
    with recollect.open_sync(str(store), embedder=STRONG) as memory:
        memory.append(ADA, TALK, said())
        memory.tune(sample())

    shown = json.loads(invoke(store, "embedder", "show", "--json").stdout)
    name = "tests.unit.test_embedder_strength:STRONG"
    own = json.loads(invoke(store, "embedder", "show", name, "--json").stdout)

    assert shown["strength"] == "as declared, or 1"
    assert own["strength"].startswith("judging/True: 8, tuned on 40 questions")


# The benchmark


@pytest.mark.parametrize("noise", [0.5, 1.0, 2.0])
def test_an_oracle_is_the_truth_and_noise(noise: float) -> None:
    """A message is near to the question that it answers, and the less so the more noise."""
    oracle = OracleEmbedder(noise, {"Who?": ["q1"], "Ada.": ["q1", "q2"], "Bob.": ["q3"]})
    question, answer, other, unknown = (
        each for each in oracle.embed(["Who?", "Ada.", "Bob.", "Rain."]) if each is not None
    )

    near = 1 / np.sqrt((1 + noise**2) * (2 + noise**2))
    assert abs(float(question @ answer) - near) < 0.25
    assert float(question @ answer) > max(float(question @ other), float(question @ unknown))
