"""What is written with less work is what the standard library would write."""

import copy
import json
import pickle
import re
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.recall.ranking import Hit
from recollect.stores.fast_records import changer_of, maker_of
from recollect.stores.plans.due_times import Debounce
from recollect.stores.rows import ScopeRow
from recollect.stores.unit_of_work import NOTHING, Effect, changed_effect, writes_of
from recollect.text.analysis import UNSPACED
from recollect.text.json_text import json_writer
from recollect.text.token_estimate import estimated_tokens

OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"separators": (",", ":")},
    {"ensure_ascii": False, "separators": (",", ":")},
    {"sort_keys": True, "default": repr},
)
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(DOCUMENTS, st.sampled_from(OPTIONS))
def test_a_document_is_written_as_json_does(document: object, options: dict[str, Any]) -> None:
    encoder = json.JSONEncoder(**options)

    assert encoder.encode(document) == json_writer(encoder)(document)


def test_what_json_has_no_form_for_goes_to_the_default() -> None:
    """Without one, and for numbers that are none where these are refused, it raises."""
    encoder = json.JSONEncoder(allow_nan=False)

    assert '["{1}"]' == json_writer(json.JSONEncoder(default=str))([{1}])
    with pytest.raises(TypeError, match="not JSON serializable"):
        json_writer(encoder)([{1}])
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_writer(encoder)([float("nan")])


def test_without_the_encoder_in_c_it_is_written_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("json.encoder.c_make_encoder", None)

    assert '{"a": 1}' == json_writer(json.JSONEncoder())({"a": 1})


def test_a_changed_record_is_that_of_replace() -> None:
    """Of every field, and of none; an unknown one is an error."""
    scope = ScopeRow(id=1, segments=("ada",), created_at=2, epoch=3, seq=4, lease_owner="w")
    changed = changer_of(ScopeRow)

    assert scope == changed(scope)
    assert replace(scope, seq=5, lease_owner=None) == changed(scope, seq=5, lease_owner=None)
    for each in fields(ScopeRow):
        other: Any = {each.name: "x"}
        assert replace(scope, **other) == changed(scope, **other)
    with pytest.raises(KeyError):
        changed(scope, sequence=5)


def test_a_changed_effect_has_all_other_writes() -> None:
    effect = Effect(dropped_scopes=[1], unnamed=[b"chain"])

    assert replace(effect, old_keys=[(1, 2)]) == changed_effect(effect, old_keys=[(1, 2)])
    assert not any(writes_of(NOTHING))
    assert any(writes_of(effect))


def test_a_changer_runs_no_check_of_a_class() -> None:
    """The control: only rows are changed so, which have none."""
    with pytest.raises(Exception, match="quiet_s"):
        replace(Debounce(), quiet_s=-1)
    assert -1 == changer_of(Debounce)(Debounce(), quiet_s=-1).quiet_s


def test_a_record_is_made_as_by_its_constructor() -> None:
    values = ("users", "ada"), 7, 1.5, {"entry": 1.5}, 0.5
    made = maker_of(Hit)(values)

    assert Hit(*values) == made
    assert type(made) is Hit
    assert made == pickle.loads(pickle.dumps(made)) == copy.copy(made)  # noqa: S301 (our own)
    with pytest.raises(FrozenInstanceError):
        made.score = 2.0  # type: ignore[misc]


@pytest.mark.parametrize("values", [(), (("users",), 7), (("users",), 7, 1.5, {}, 0.5, "more")])
def test_a_record_is_not_made_of_too_few_or_too_many_values(values: tuple[object, ...]) -> None:
    with pytest.raises(TypeError):
        maker_of(Hit)(values)


TALK = st.text() | st.text("abc \n我住高雄ひにกé…\ud83d😀")


@given(TALK)
def test_tokens_are_estimated_as_by_looking_at_every_character(text: str) -> None:
    wide = sum(bool(re.match(f"[{UNSPACED}]", each)) for each in text)

    assert wide + -(-(len(text) - wide) // 4) == estimated_tokens(text)
