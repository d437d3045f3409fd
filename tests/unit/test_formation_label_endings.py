"""Ends of a memory whose subject stands in its label alone: "the camera's gone"."""

from collections.abc import Mapping
from typing import Any, Final

import pytest

from benchmarks.support import verdict_on
from recollect.formation.support import endings
from tests.harness.answer_cases import case, end

TAIL: Final = "，全给它花。"
"""Keeps a line from ending in 了, which tells news."""


def ended(said: str, quote: str, label: str, content: str, other: str) -> Mapping[str, Any]:
    """Return a case in which *quote* ends a note, and *other* is remembered as well."""
    known = [
        {"id": "m1", "type": "Note", "value": {"context": label, "content": content}},
        {"id": "m2", "type": "Note", "value": {"context": "talk", "content": other}},
    ]
    return case([f"u: {said}{TAIL}"], end("m1", f"1: {quote}"), known=known)


HANS: Final = ("谈买相机时", "用户看上一台二手富士X-T30，对方要5200", "猫包子尿闭，住院花了4300")
HANT: Final = ("談買相機時", "用戶看上一台二手富士X-T30，對方要5200", "貓包子尿閉，住院花了4300")
EN: Final = (
    "when buying a camera",
    "The user likes a second-hand Fuji X-T30, they want 520 for it",
    "The cat Biscuit was at the vet, which cost 430",
)
PAID_EN: Final = "the cat Biscuit was at the vet which cost 430"
RIGHT: Final = [
    ended("包子尿闭，住院花了4300，相机没了，不买了", "相机没了，不买了", *HANS),
    ended("包子尿閉，住院花了4300，相機不買啦", "相機不買啦", *HANT),
    ended(f"{PAID_EN}, so no camera", "so no camera", *EN),
    ended(f"{PAID_EN}, the camera idea is cancelled", "the camera idea is cancelled", *EN),
]
WRONG: Final = [
    ended("包子尿闭，住院花了4300，冰箱没了，不买了", "冰箱没了，不买了", *HANS),
    ended("包子尿闭，住院花了4300，拿相机拍它", "拿相机拍它", *HANS),
    ended("包子尿閉，住院花了4300，機票不買啦", "機票不買啦", *HANT),
    ended(f"{PAID_EN}, so no holiday", "so no holiday", *EN),
    ended(f"{PAID_EN}, and it looks cute on camera", "and it looks cute on camera", *EN),
    ended("包子尿闭，住院花了4300，相机没了，不买了", "包子尿闭，住院花了4300", *HANS),
    # the label names what another memory names as well
    ended(
        "包子尿闭，住院花了4300，相机没了", "相机没了", HANS[0], HANS[1], HANS[2] + "，拍它的相机"
    ),
]


@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_words_about_the_label_end_it(number: int) -> None:
    verdict = verdict_on(RIGHT[number])

    assert verdict.passes, verdict.reasons


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_words_about_another_memory_do_not(number: int) -> None:
    assert not verdict_on(WRONG[number]).passes


def test_labels_that_say_nothing_or_all_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutants: any words end the label, and none do."""
    with monkeypatch.context() as patched:
        patched.setattr(endings, "_ends_label", lambda *_: True)
        assert all(verdict_on(each).passes for each in WRONG)
    monkeypatch.setattr(endings, "_ends_label", lambda *_: False)
    assert not any(verdict_on(each).passes for each in RIGHT)
