"""How memories are formed: what can be configured, by whom, and who wins."""

from dataclasses import fields
from decimal import Decimal
from typing import Any

import pydantic
import pytest

import recollect
from recollect.errors import UsageError
from recollect.formation.config import Assistants, FormationLimits, FormationSettings, with_settings
from recollect.formation.prompt_texts import FormationPrompts
from recollect.formation.types import DEFAULT_TYPES, NOTE, MemoryType, load_types
from recollect.records import Json
from recollect.stores.plans.due_times import Debounce

CONFIG: dict[str, Json] = {
    "name": "favorite_locations",
    "description": "Where someone likes to go.",
    "update_mode": "insert",
    "parameters": {"type": "object", "properties": {"name": {"type": "string"}}},
}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, FormationSettings()),
        ({"model": "a/b"}, FormationSettings(model="a/b")),
        ({"model": None}, FormationSettings()),
        ({"language": "zh-hant"}, FormationSettings(language="zh-hant")),
        ({"language": None}, FormationSettings()),
        ({"schedule": "0 3 * * *"}, FormationSettings(schedule="0 3 * * *")),
        ({"after_seconds": 3}, FormationSettings(debounce=Debounce(quiet_s=3))),
        ({"debounce": {"messages": 5}}, FormationSettings(debounce=Debounce(messages=5))),
        ({"debounce": {"messages": None}}, FormationSettings()),
        ({"limits": {"calls_a_day": 3}}, FormationSettings(limits=FormationLimits(calls_a_day=3))),
        (
            {"prompts": {"patching": "Patch."}},
            FormationSettings(prompts=FormationPrompts(patching="Patch.")),
        ),
        ({"prompts": {"repair": None}}, FormationSettings()),
        ({"second_reading": True}, FormationSettings(second_reading=True)),
        ({"second_reading": "a/b"}, FormationSettings(second_reading="a/b")),
    ],
)
def test_a_setting_changes_what_it_names(
    given: dict[str, Json], expected: FormationSettings
) -> None:
    """And nothing else."""
    assert expected == with_settings(FormationSettings(), given)


@pytest.mark.parametrize("name", ["types", "memory_types"])
def test_types_are_settings(name: str) -> None:
    """Under either name."""
    (type_,) = with_settings(FormationSettings(), {name: [CONFIG]}).types

    assert CONFIG == type_.as_config()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"colour": "red"}, "there is no setting 'colour'"),
        ({"model": 3}, "model is text"),
        ({"schedule": ["x"]}, "schedule is text"),
        ({"types": "User"}, "types is a list"),
        ({"types": [{**CONFIG, "update_mode": "merge"}]}, "update_mode"),
        ({"types": [CONFIG, CONFIG]}, "favorite_locations"),
        ({"limits": 3}, "limits is an object"),
        ({"limits": {"calls": 3}}, "limits has no 'calls'"),
        ({"limits": {"calls_a_day": "3"}}, "limits.calls_a_day cannot be '3'"),
        ({"limits": {"calls_a_day": 0}}, "at least 1"),
        ({"limits": {"window_messages": 0}}, "at least 1"),
        ({"limits": {"window_messages": None}}, "window_messages"),
        ({"limits": {"window_messages": True}}, "window_messages"),
        ({"limits": {"window_messages": 1.5}}, "window_messages"),
        ({"limits": {"repairs": -1}}, "at least 0"),
        ({"after_seconds": -1}, "quiet_s"),
        ({"after_seconds": "10"}, "after_seconds"),
        ({"debounce": {"quiet_s": None}}, "debounce.quiet_s"),
        ({"prompts": {"extraction": "{who}"}}, "names {who}"),
        ({"prompts": {"extraction": 3}}, "prompts.extraction"),
        ({"prompts": {"other": "x"}}, "prompts has no 'other'"),
        ({"prompts": {"chatbot": None}}, "prompts.chatbot"),
        ({"prompts": {"remembered": "a\nb"}}, "'remembered' is one line"),
        ({"prompts": {"weekdays": "Mon"}}, "seven words"),
        ({"language": "fr"}, "no language 'fr'; they have en, zh, zh-hant"),
        ({"language": 3}, "language is text"),
    ],
)
def test_a_setting_that_is_not_right_is_refused(given: dict[str, Json], told: str) -> None:
    """With its name."""
    with pytest.raises(UsageError) as raised:
        with_settings(FormationSettings(), given)

    assert told in str(raised.value)


class Plant(pydantic.BaseModel):
    """A plant of the user."""

    species: str


@pytest.mark.parametrize(
    "given", [[Plant], Plant, {**CONFIG, "name": "Plant"}, load_types([Plant]), load_types(Plant)]
)
def test_settings_take_types_as_they_are_loaded(given: Any) -> None:
    """One or a list: a class, a JSON Schema, or what `load_types` returned."""
    (found,) = FormationSettings(types=given).types

    assert "Plant" == found.name
    assert isinstance(found, MemoryType)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["User"], r"types\[0\]: must be an object .*, not text"),
        ([object], r"types\[0\]: must be an object .*, not the class object"),
        (Decimal(1), "types: must be a list of memory types, not Decimal"),
        ([{"name": "Plant"}], r"types\[0\].description: is missing"),
    ],
)
def test_types_that_are_none_are_refused_at_once(given: Any, told: str) -> None:
    """Not when something is formed, where nothing tells."""
    with pytest.raises(UsageError, match=told):
        FormationSettings(types=given)


def test_a_formation_that_is_none_is_refused_when_a_memory_is_opened() -> None:
    """The error says where types belong."""
    given: Any = [Plant]

    with pytest.raises(UsageError, match=r"not a list; .* formation=FormationSettings\(types="):
        recollect.open("memory:", formation=given)
    with pytest.raises(UsageError, match="not a list"):
        Assistants(named={"gardener": given})


def test_the_request_wins_over_its_assistant_and_that_over_the_default() -> None:
    """Setting by setting."""
    default = FormationSettings(model="a/default", limits=FormationLimits(repairs=0))
    poet = FormationSettings(model="a/poet", types=(NOTE,), limits=FormationLimits(repairs=1))
    assistants = Assistants(default=default, named={"poet": poet})

    own = assistants.of({"assistant": "poet", "limits": {"attempts": 2}})

    assert default == assistants.of({})
    assert poet == assistants.of({"assistant": "poet"})
    assert ("a/poet", (NOTE,), 1, 2) == (
        own.model,
        own.types,
        own.limits.repairs,
        own.limits.attempts,
    )
    assert "a/own" == assistants.of({"assistant": "poet", "model": "a/own"}).model


def test_the_nearest_scope_names_the_assistant_of_a_thread_that_names_none() -> None:
    """Whole segments are compared, and what the thread names wins."""
    poet, cook = FormationSettings(model="a/poet"), FormationSettings(model="a/cook")
    scopes = {("acme",): "poet", ("acme", "users", "ada"): "cook"}
    assistants = Assistants(named={"poet": poet, "cook": cook}, scopes=scopes)

    assert cook == assistants.of({}, ("acme", "users", "ada", "work"))
    assert poet == assistants.of({}, ("acme", "users", "ada2"))
    assert poet == assistants.of({"assistant": "poet"}, ("acme", "users", "ada"))
    assert FormationSettings() == assistants.of({}, ("acme2",))


def test_an_assistant_of_a_scope_is_nobody_elses_by_name() -> None:
    """A scope with an assistant has its settings alone; the others do not have those."""
    poet, cook = FormationSettings(model="a/poet"), FormationSettings(model="a/cook")
    assistants = Assistants(named={"poet": poet, "cook": cook}, scopes={("acme",): "poet"})

    assert [poet] == assistants.all_in(("acme", "users"))
    assert [FormationSettings(), cook] == assistants.all_in(("other",))


def test_a_scope_with_an_unknown_assistant_is_refused_at_once() -> None:
    with pytest.raises(UsageError, match="there is no assistant 'x'; there are: none"):
        Assistants(scopes={("acme",): "x"})


def test_an_unknown_assistant_is_named() -> None:
    with pytest.raises(UsageError, match="there is no assistant 'x'; there are: poet"):
        Assistants(named={"poet": FormationSettings()}).of({"assistant": "x"})


@pytest.mark.parametrize("name", [["poet"], {"a": 1}, 3, True])
def test_an_assistant_is_named_by_text(name: Json) -> None:
    """Anything else is refused, and breaks nothing."""
    with pytest.raises(UsageError, match="there is no assistant"):
        Assistants(named={"poet": FormationSettings()}).of({"assistant": name})


def test_the_defaults_are_the_built_in_types() -> None:
    """With limits that every formation has."""
    settings = FormationSettings()

    assert DEFAULT_TYPES == settings.types
    assert all(getattr(settings.limits, each.name) != 0 for each in fields(FormationLimits))
    assert (1, 10.0) == (settings.limits.repairs, settings.debounce.quiet_s)


def test_a_request_cannot_name_an_object_of_a_module() -> None:
    """Importing it would run code; a configuration, which is the operator's, may."""
    configured = Assistants(default=FormationSettings(model="app.models:chat"))

    with pytest.raises(UsageError, match="only a configuration may name an object"):
        configured.of({"model": "os:system"})

    assert configured.of({}).model == "app.models:chat"
    assert configured.of({"model": "openai:gpt_x"}).model == "openai:gpt_x"
