"""A prompt has just the variables that its memory fills in, and asking is one call."""

from typing import Any

import pytest
from langchain_core.language_models.fake import FakeListLLM
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate

from recollect import ModelError, UsageError
from recollect.conversation import prompts
from recollect.conversation.model_prompt import (
    MemoryModel,
    checked,
    checked_exactly,
    places_in,
    request_of,
    variables_of,
)
from recollect.ports import ModelAnswer, Turn
from recollect.testing import ScriptedModel

VARIABLES = {
    "SUMMARY": {"summary", "new_lines"},
    "ENTITIES": {"history", "input"},
    "ENTITY_SUMMARY": {"entity", "summary", "history", "input"},
    "ENTITY_SUMMARIES": {"entities", "history", "input"},
    "TRIPLES": {"history", "input"},
    "FACTS": {"facts", "history", "input"},
}


@pytest.mark.parametrize("name", VARIABLES)
def test_our_prompts_have_the_variables_of_the_originals(name: str) -> None:
    assert VARIABLES[name] == set(variables_of(getattr(prompts, name)))


@pytest.mark.parametrize("text", ["a { b", "a } b", "{0}", "{a.b}", "{a!r}", "{}"])
def test_a_brace_that_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="double a literal brace"):
        places_in(text)


def test_what_is_filled_in_is_never_read_as_a_place() -> None:
    request = request_of("{old} and {{}} {new}", old="{new}", new="{old}")

    assert (Turn(role="user", text="{new} and {} {old}"),) == request.turns


def test_a_template_of_langchain_is_taken_as_it_is() -> None:
    template = PromptTemplate.from_template("{summary}|{new_lines}")

    request = request_of(template, summary="S", new_lines="N")

    assert (Turn(role="user", text="S|N"),) == request.turns


def test_a_template_of_messages_keeps_its_roles() -> None:
    template = ChatPromptTemplate.from_messages(
        [("system", "Sum up."), ("human", "{summary}"), ("ai", "Yes?"), ("human", "{new_lines}")]
    )

    request = request_of(template, summary="S", new_lines="N")

    assert "Sum up." == request.system
    assert ["S", "Yes?", "N"] == [each.text for each in request.turns]
    assert ["user", "assistant", "user"] == [each.role for each in request.turns]


def test_other_variables_than_the_expected_are_refused_in_the_words_of_the_original() -> None:
    with pytest.raises(ValueError, match="Got unexpected prompt input variables"):
        checked_exactly("{summary}", ("summary", "new_lines"))


def test_a_variable_without_a_value_is_refused() -> None:
    with pytest.raises(UsageError, match="does not fill: mood"):
        checked("{input} {mood}", ("input", "history"))


@pytest.mark.parametrize("prompt", [None, 7, object()])
def test_what_is_no_prompt_is_refused(prompt: Any) -> None:
    with pytest.raises(UsageError, match="is no prompt"):
        variables_of(prompt)


async def test_a_text_completion_model_of_langchain_is_asked() -> None:
    llm = FakeListLLM(responses=["done"])

    assert "done" == await MemoryModel(llm).ask("{input}", input="go")


@pytest.mark.parametrize("stopped", ["length", "refusal"])
async def test_half_an_answer_is_an_error(stopped: Any) -> None:
    model = ScriptedModel([ModelAnswer(text="half", stopped=stopped)])

    with pytest.raises(ModelError, match="its answer is discarded"):
        await MemoryModel(model).ask("{input}", input="go")


async def test_without_a_model_it_says_what_to_give() -> None:
    with pytest.raises(UsageError, match="give one as 'llm'"):
        await MemoryModel(None).ask("{input}", input="go")
