"""Labels that say when a note matters: they doubt nothing, so that they need keep no doubt."""

from collections.abc import Mapping
from typing import Any, Final

import pytest

from benchmarks.support import verdict_on
from recollect.formation.grounding import grounds
from tests.harness.answer_cases import case, known_note

Case = Mapping[str, Any]


def changed(said: str, content: str, label: str) -> Case:
    """Return a case of a note whose content and label both change by *said*."""
    changes = [
        {"op": "replace", "path": "/content", "value": content, "because": f"1: {said}"},
        {"op": "replace", "path": "/context", "value": label, "because": f"1: {said}"},
    ]
    call = {"name": "patch_memory", "arguments": {"id": "m1", "changes": changes}}
    return case([f"u: {said}"], call, known=[known_note("The user has a sister, Ines")])


RIGHT: Final = [
    changed("Ines says she won't touch oysters again",
            "The user has a sister, Ines, who says she won't touch oysters again",
            "Meals and restaurants with her"),
    changed("my sister thinks she'll sell the boat",
            "The user has a sister, Ines, who thinks she'll sell the boat", "Plans for summer"),
    changed("maybe Ines comes for Easter", "The user's sister Ines may come for Easter",
            "Family visits"),
    changed("我妹说以后打死不吃生蚝", "用户的妹妹Ines说以后打死不吃生蚝", "推荐餐厅、点菜时"),
    changed("我妹妹說可能明年搬去花蓮", "用戶的妹妹Ines說可能明年搬去花蓮", "安排家庭聚會時"),
]  # fmt: skip
WRONG: Final = [
    changed("my brother says she sold the boat", "The user's sister Ines sold the boat",
            "Plans for summer"),
    changed("my brother says she sold the boat",
            "The user's sister Ines; her brother says she sold the boat",
            "Since the sister sold the boat"),
    changed("maybe Ines moves to Turin", "The user's sister Ines may move to Turin",
            "Visits after Ines moves to Turin"),
    changed("听说我妹把船卖了", "听说用户的妹妹Ines把船卖了", "妹妹把船卖了以后的出游"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_a_label_needs_no_doubt(number: int) -> None:
    verdict = verdict_on(RIGHT[number])

    assert verdict.passes, verdict.reasons


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_what_is_doubted_is_stated_by_no_label(number: int) -> None:
    """A new content keeps the doubt as well."""
    assert not verdict_on(WRONG[number]).passes


def test_a_label_that_may_state_anything_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant asks no label for a doubt."""
    monkeypatch.setattr(grounds, "retells_doubt", lambda *_: False)

    assert any(verdict_on(each).passes for each in WRONG)
