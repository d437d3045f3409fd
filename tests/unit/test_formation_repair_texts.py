"""What was wrong with a call is told in the language of the prompt."""

import re
from pathlib import Path
from typing import Final

import pytest

import recollect
from recollect.formation import repair_texts
from recollect.formation.offer import offer_of
from recollect.formation.operations import Fault
from recollect.formation.prompt import repair_request
from recollect.formation.prompt_texts import LANGUAGES, TEXTS, PromptLanguage
from recollect.formation.repair_texts import reason_in
from recollect.formation.types import NOTE, USER
from recollect.ports import ModelAnswer, ModelRequest, ToolCall, Turn
from recollect.text.chinese_scripts import simplified

FORMATION: Final = Path(recollect.__file__).parent / "formation"
HAN: Final = re.compile("[\u4e00-\u9fff]")
REASONS: Final = (
    "/home: the name 'Oslo' is not in message 3, 4",
    "/: some of more than 100 dates is not in message ",
    "message 3 does not say 'I live: here': quote its words",
    "there is no message 9; they are 1 to 4",
    "only a new message of the user or assistant may cause a Note: cite one, or leave it",
    "/home cites no message: add one to 'because', or leave the field out",
    "since: 'soon' is no date of the form 2024-05-07",
    "the value holds nothing: leave the call out, or say what was told",
    "/home is blank: leave the field out, or say what was told",
    "because: the value has nothing at /town: cite for what is there",
    "/: the speaker was in doubt, or told what others say: say so",
    "/home: the cited words say nothing of it: cite those that do",
    "/content: the cited words say nothing of 'boat, car': say only what was said",
    "/: it is in another language than its citation; say it in that one",
    "m1: the cited words are not about it: cite those that end it",
    "m1: the cited words do not say that it is over",
    "/home: the cited words say that the user has left it",
    "/home: the cited words do not say that this is the user's",
    "/: the cited words do not say that somebody is not fond of something",
    "/: the cited words say of somebody else who is allergic: say of whom",
    "/: the cited words and the value differ in whether 'smoke' is denied",
    (
        "it cites ada and ines, each of whom has a User: make a call for each, with the words of "
        "that user alone"
    ),
    "/home cites no user: cite the user whose User it is",
    (
        "/home cites the words of ines, and m1 belongs to ada: cite the owner's own words, or make "
        "a document of the user who spoke"
    ),
    "the answer was a refusal: nothing was asked but what the messages say",
    "the answer was cut off at its length: make the calls that are missing, shorter",
    "no tool was called: call one, or remember_nothing if there is nothing to remember",
    "there is no tool 'Notes'; the tools are Note, remember_nothing",
    "there is no tool 'User': change m1, m2 with patch_memory",
    "the arguments cannot be read: it is no JSON",
    "the arguments must be a JSON object",
    "'value' must be a JSON object",
    "the value does not fit Note: /content: it is missing",
    "'changes' must be a list of at least one operation",
    "because[0] must begin with the number of a message, as in '3 /home: we moved to Oslo'",
    "because must hold words of the message behind the colon",
    "'because' must cite at least one message",
    "the arguments must have because, value",
    "changes[0] must not have reason",
    "/content: message 3 puts 122 right: it is 112",
    "there is no memory 'm9'; there are: m1",
    "m1 is patched in another call: do one of both",
    "m1 is a document of its own: patch it, it cannot end",
    "/home was not shown to you: leave it as it is",
    "'path' is the whole document: name only the fields that change",
    "the patch does not apply: operation 0 (add /a/b): there is no /a",
    "the patched document does not fit User: /age: it is no integer",
    "none of the memories says the number 5",
    "all of the memories are in doubt, or hearsay: say so",
    "a memory is in doubt, or hearsay: say so, or merge less",
    "it leaves out what they say: the number 3, the name 'Bergen'; say it, or merge less",
    "one of these memories is merged in another call",
    "'ids' must list ids of memories; there are m1, m2",
    "'ids' must name at least two memories",
    "'ids' must be of one group",
    "the arguments must be an object with 'ids' and 'value' alone",
    "the answer was a refusal, or cut off at its length: make the calls again, shorter",
    "no tool was called: call one, or leave_as_is if nothing is to be done",
)


@pytest.mark.parametrize("reason", REASONS)
def test_a_reason_is_told_in_both_scripts(reason: str) -> None:
    """With the same places, words and numbers in it; in English it stays as it is."""
    english, simple, traditional = (reason_in(each, reason) for each in LANGUAGES)

    assert reason == english
    assert HAN.search(simple)
    assert HAN.search(traditional)
    assert simplified(simple) == simple
    for quoted in re.findall(r"'[^']+'|/\w+|m\d+|\d+", reason):
        is_a_field = quoted.strip("'") in {
            "because",
            "value",
            "changes",
            "path",
            "ids",
            "s own words, or make a document of the user who spoke",
        }
        assert quoted.strip("'") in simple or is_a_field, quoted
    for word in repair_texts._IN_SIMPLIFIED:
        assert word not in simple


def test_every_reason_told_is_one_that_is_found() -> None:
    """Each form is that of an example, and each example stands in a module of formation."""
    used = {form for reason in REASONS for form, _ in repair_texts._FORMS if form.fullmatch(reason)}
    sources = "".join(
        re.sub(r'"\s*\n\s*f?"', "", path.read_text("utf-8"))
        for path in FORMATION.rglob("*.py")
        if path.name != "repair_texts.py"
    )

    assert {form for form, _ in repair_texts._FORMS} == used
    for form, _ in repair_texts._FORMS:
        plain = re.sub(r"\(\?P<\w+>[^)]*\)", "#", form.pattern)
        longest = max(re.findall(r"[a-z][A-Za-z ,']+[a-z]", plain), key=len)
        assert longest in sources, longest


@pytest.mark.parametrize(
    "reason",
    ["", "something else", "x" * 3_000, "/home: 第3則", "/a: " * 400, "there is no message " * 90],
)
def test_an_unknown_reason_stays_as_it_is(reason: str) -> None:
    """It is told in English rather than not at all."""
    assert [reason] * 3 == [reason_in(each, reason) for each in LANGUAGES]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_repair_is_asked_for_in_the_language_of_its_prompt(language: PromptLanguage) -> None:
    """What was right is answered so as well."""
    texts = TEXTS[language]
    calls = tuple(ToolCall(name="Note", arguments="{}", id=str(n)) for n in range(2))
    fault = Fault(call="1", kind="call", reason="'value' must be a JSON object")
    request = ModelRequest(
        system="s",
        turns=(Turn(role="user", text="t"),),
        tools=offer_of((USER, NOTE), (), "").tools,
    )

    repair = repair_request(request, ModelAnswer(calls=calls), calls, (fault,), texts)

    told = [turn.text for turn in repair.turns if turn.role == "tool"]
    assert [texts.kept, f"{texts.repair} {reason_in(language, fault.reason)}"] == told
