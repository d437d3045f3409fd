"""The work files of the training, the readers' requests, and how verdicts are counted."""

import json
import random
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from recollect.embedders import open_embedder
from recollect.embedders.minilm_install import GRAPH, folder
from recollect.errors import UsageError
from training import work_files
from training.candidates import RankedSet, SpokenLine
from training.evidence_figures import first_alike
from training.graphs import GraphEmbedder
from training.pairs import PAIR_PIECES, passage_of
from training.published_weights import read_published
from training.reader_requests import BOTH, FILE_LINES_MAX, ReaderRequest, write_requests
from training.reader_verdicts import read_key, read_verdicts, sign_test, verdict_lines
from training.work_files import kept_scores, ranked_set, unread_language


def request_of(name: str, arm: str, question: str) -> ReaderRequest:
    """Return a request for one question of a set."""
    gold = {"set": "locomo", "id": question, "answer": "gold words"}
    return ReaderRequest(
        id=name, arm=arm, question=f"{question}?", block=f"{name} said", date="", gold=gold
    )


PAIRS = [
    (request_of(f"a{at}", "today", f"q{at}"), request_of(f"b{at}", "trained", f"q{at}"))
    for at in range(FILE_LINES_MAX + 3)
]
ALIKE = (request_of("c0", BOTH, "same"),)


def written(path: Path) -> list[list[dict[str, Any]]]:
    """Return the rows of the files of requests, written with a fixed seed."""
    files = write_requests(path, [*PAIRS, ALIKE], random.Random(1))  # noqa: S311
    return [[json.loads(line) for line in each.read_text().splitlines()] for each in files]


def test_a_file_holds_one_block_of_a_question(tmp_path: Path) -> None:
    """So that a reader of one file sees no question twice; every block stands in some file."""
    files = written(tmp_path)

    for rows in files:
        assert len(rows) <= FILE_LINES_MAX
        assert len({each["question"] for each in rows}) == len(rows)
    assert 2 * len(PAIRS) + 1 == sum(map(len, files))


def test_a_reader_sees_nothing_of_the_gold(tmp_path: Path) -> None:
    """Neither the arm nor the answer; the key has both."""
    shown = json.dumps(written(tmp_path))

    assert "today" not in shown
    assert "gold words" not in shown
    assert {"today", "trained", BOTH} == {row["arm"] for row in read_key_of(tmp_path).values()}


def read_key_of(path: Path) -> dict[str, dict[str, Any]]:
    """Return the key of the requests in *path*."""
    return read_key(path / "key.json")


def test_verdicts_are_counted_by_question(tmp_path: Path) -> None:
    """A block of both counts for each; a question without all its verdicts for neither."""
    written(tmp_path)
    judged = {"a0": True, "b0": False, "a1": False, "b1": True, "a2": True, "b2": True, "c0": True}
    lines = list(verdict_lines(read_key_of(tmp_path), {**judged, "a3": True}))

    assert "4 questions, right: today 3, trained 3; alone: today 1, trained 1" in lines[0]
    assert lines[-1].startswith(f"{2 * len(PAIRS) + 1 - len(judged) - 1} blocks have no verdict")


@pytest.mark.parametrize(
    "text",
    [
        '{"a0": {"right": true, "miss": ""}, "b0": false}',
        '{"id": "a0", "right": true}\n{"id": "b0", "right": false}\n',
        '[{"id": "a0", "right": true}, {"id": "b0", "right": false}]',
    ],
)
def test_verdicts_are_read_in_each_form(tmp_path: Path, text: str) -> None:
    """One object, lines, or a list."""
    (tmp_path / "verdicts").write_text(text)

    assert {"a0": True, "b0": False} == read_verdicts(tmp_path / "verdicts")


@pytest.mark.parametrize("text", ['{"a0": "yes"}', '{"a0": {"miss": ""}}', '{"a0"', ""])
def test_a_verdict_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    """With the id, or with what is wrong with the file."""
    (tmp_path / "verdicts").write_text(text)
    with pytest.raises(UsageError, match=r"a0|neither JSON"):
        read_verdicts(tmp_path / "verdicts")


def test_a_verdict_of_other_requests_is_refused(tmp_path: Path) -> None:
    """Its id is not in the key."""
    written(tmp_path)
    with pytest.raises(UsageError, match="no 'z9'"):
        list(verdict_lines(read_key_of(tmp_path), {"z9": True}))


def test_the_sign_test_is_two_sided() -> None:
    """As counted by hand."""
    assert pytest.approx(2 * (1 + 7) / 2**7) == sign_test(1, 6) == sign_test(6, 1)


def test_what_is_missing_or_cut_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the step that writes it anew."""
    monkeypatch.setattr(work_files, "WORK", tmp_path)
    for _ in ("missing", "cut"):
        with pytest.raises(UsageError, match="`python -m training candidates talk`"):
            ranked_set("talk")
        with pytest.raises(UsageError, match="`python -m training score talk`"):
            kept_scores("talk", "reranker")
        (tmp_path / "talk.jsonl.gz").write_bytes(b"\x1f\x8b\x08\x00cut")
        (tmp_path / "talk.reranker.json").write_text('{"q1": [1.0')


def test_the_program_tells_an_error_without_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line, and an exit status."""
    monkeypatch.setattr(work_files, "WORK", tmp_path)
    program = import_module("training.__main__")  # its types need torch
    found = CliRunner().invoke(program.main, ["measure", "talk"])

    assert found.exit_code
    assert isinstance(found.exception, SystemExit)
    assert 1 == len(found.output.splitlines())


def test_weights_that_are_not_the_published_ones_are_refused(tmp_path: Path) -> None:
    """Missing, cut short, and of another model."""
    path = tmp_path / "model.safetensors"
    other = b'{"pooler": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}'
    for content, told in (
        (None, "there is no"),
        (b"\x10", "cut short"),
        (len(other).to_bytes(8, "little") + other[:-9], "cut short"),
        (len(other).to_bytes(8, "little") + other, "cut short"),
        (len(other).to_bytes(8, "little") + other + b"\x00" * 4, "is not all-MiniLM-L6-v2"),
    ):
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(UsageError, match=told):
            read_published(path)


def test_a_graph_that_is_not_there_is_told(tmp_path: Path) -> None:
    """By the name of the object, and with the command that writes it."""
    with pytest.raises(UsageError, match="no graph 'nothing'"):
        open_embedder("training.graphs:nothing")
    assert "talk-nothing/absent" == GraphEmbedder("nothing", tmp_path).identity


def test_another_graph_has_another_identity(tmp_path: Path) -> None:
    """By its bytes: vectors of two graphs of one name are never mixed."""
    place = folder(tmp_path / "new")
    place.mkdir(parents=True)
    identities = set()
    for content in (b"one", b"two"):
        (place / GRAPH).write_bytes(content)
        identities.add(GraphEmbedder("new", tmp_path).identity)

    assert 2 == len(identities)


def test_a_language_that_the_base_does_not_read_is_told() -> None:
    """By the share of the letters in its vocabulary."""
    vocabulary = ["a", "##b", "n"]
    lines = {"t": {"m": SpokenLine("m", "Ana", "4 March 2024", "ab \u732b\u72d7", "", 1)}}

    assert "50%" in unread_language("set", RankedSet([], lines), vocabulary)
    assert not unread_language("set", RankedSet([], {}), vocabulary)


def test_a_very_long_message_is_cut() -> None:
    """However long; with more room for longer pairs."""
    for text in ("word " * 20_000, "One. " * 20_000, "x" * 100_000):
        assert len(passage_of(text, "which one?")) <= 4 * PAIR_PIECES
        assert len(passage_of(text, "which one?", 900)) <= 900


def test_agreement_is_of_the_best() -> None:
    """Nothing but the first ones counts; fewer candidates are all the best."""
    assert 0.5 == first_alike([3.0, 2.0, 1.0], [3.0, 1.0, 2.0], count=2)
    assert 1.0 == first_alike([1.0], [2.0])
