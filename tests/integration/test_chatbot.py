"""The chatbot: a talk is kept word by word, answered with what is remembered, and corrected."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

import recollect
from recollect.chat import Chatbot
from recollect.chat.answer_sources import USED_MAX, name_digest
from recollect.chat.chat_prompt import NOTHING_KNOWN, filled
from recollect.chat.chatbot import ANSWERS
from recollect.demo.story import read_types
from recollect.errors import (
    GoneError,
    ModelError,
    ModelUnavailableError,
    NotFoundError,
    UsageError,
)
from recollect.formation.config import FormationSettings
from recollect.formation.prompt_texts import FormationPrompts
from recollect.formation.rule_model import RuleModel
from recollect.models.callables import Ask
from recollect.ports import ModelAnswer, ModelRequest
from recollect.records import JsonObject, Message
from recollect.stores.plans.erase_targets import EraseTarget
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.scripted_model import ScriptedModel

ADA = ("users", "ada")


@pytest.fixture
async def memory(clock: FrozenClock, tmp_path: Path) -> AsyncIterator[recollect.Recollect]:
    """Return a memory that is formed by rules, and only when it is told to."""
    async with recollect.open(
        str(tmp_path / "talk.db"),
        embedder="none",
        model=RuleModel(),
        worker=False,
        clock=clock,
        ids=SeededIds(1),
    ) as memory:
        yield memory


def says_hello(_: ModelRequest) -> str:
    """Answer as a function of a user's own."""
    return "Hello, Ada."


async def says_hello_later(request: ModelRequest) -> str:
    """Answer the same with ``async def``."""
    return says_hello(request)


@pytest.mark.parametrize("model", [says_hello, says_hello_later])
async def test_a_function_answers(memory: recollect.Recollect, model: Ask) -> None:
    """A chatbot takes as its model what a memory takes."""
    bot = Chatbot(memory, model, ADA)

    assert "Hello, Ada." == await bot.reply("Hello!")
    assert "says_hello" in str(bot.model)


async def test_a_model_is_named(memory: recollect.Recollect) -> None:
    """By the names that `open` knows; what names none is refused at once."""
    assert RuleModel().identity == Chatbot(memory, "rules", ADA).model
    with pytest.raises(UsageError, match="names no provider"):
        Chatbot(memory, "gpt", ADA)


def test_a_memory_without_await_is_refused() -> None:
    """The error says which one a chatbot needs."""
    with recollect.open_sync("memory:", embedder="none") as memory:
        given: Any = memory

        with pytest.raises(UsageError, match=r"needs a memory of recollect\.open, not .*SyncRec"):
            Chatbot(given, "rules", ADA)


class Breaking(RuleModel):
    """A model that says two words, and then fails or is never heard of again."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__()
        self.error = error
        self.waits = anyio.Event()

    async def stream(self, request: ModelRequest) -> AsyncIterator[str]:
        """Yield two words, then fail or wait."""
        yield "I "
        yield "would"
        if self.error is not None:
            raise self.error
        self.waits.set()
        await anyio.sleep_forever()


async def said(memory: recollect.Recollect, thread: str) -> list[tuple[str, str]]:
    """Return role and text of all messages of a thread."""
    return [(each.role, each.text) for each in (await memory.messages(ADA, thread)).rows]


async def test_a_talk_is_kept_word_by_word(memory: recollect.Recollect) -> None:
    """The answer is kept exactly as it was streamed."""
    bot = Chatbot(memory, ScriptedModel(["  Hello,\n Ada. "]), ADA, thread="talk")

    answered = await bot.reply("I am Ada.")

    assert "  Hello,\n Ada. " == answered
    assert [("user", "I am Ada."), ("assistant", answered)] == await said(memory, "talk")


async def test_what_cannot_be_stored_is_shown_as_it_is_kept(memory: recollect.Recollect) -> None:
    """A NUL or half a character of a model's answer loses nothing else of it."""
    bot = Chatbot(memory, ScriptedModel(["one\0two \ud800three"]), ADA, thread="talk")

    answered = await bot.reply("Count.")

    assert "one\ufffdtwo \ufffdthree" == answered
    assert ("assistant", answered) == (await said(memory, "talk"))[1]


@pytest.mark.parametrize(
    ("told", "asked", "answer"),
    [
        (("I live in Bergen.", "I moved to Oslo."), "Where do I live now?", "I remember: “home: "),
        (("我住在卑尔根。", "我搬到了奥斯陆。"), "我现在住在哪里？", "我记得：“住处："),
        (("我住在卑爾根。", "我搬到了奧斯陸。"), "我現在住在哪裡？", "我記得：「住處："),
    ],
)
async def test_the_rules_answer_with_what_holds_now(
    memory: recollect.Recollect, told: tuple[str, str], asked: str, answer: str
) -> None:
    """The profile, though an old message has more of the question's words."""
    bot = Chatbot(memory, RuleModel(), ADA, thread="one")
    for text in told:
        await bot.reply(text)
        await memory.form(ADA)
    bot.new_thread()

    answered = await bot.reply(asked)

    profile = await memory.get(ADA, "User", "User")
    assert profile is not None
    assert f"{answer}{profile.value['home']}" in answered
    assert str(profile.value["home"]) in told[1]


async def test_another_thread_is_answered_with_what_was_formed(
    memory: recollect.Recollect,
) -> None:
    """The profile comes first, then what bears on the question, between two marks."""
    model = RuleModel()
    bot = Chatbot(memory, model, ADA, thread="one")
    await bot.reply("My name is Ada. I live in Bergen. My dog hates rain.")
    await memory.form(ADA)
    bot.new_thread()

    async with bot.answering(await bot.hear("What does my dog hate?")) as answer:
        async for _ in answer.pieces:
            continue

    system = model.requests[-1].system
    assert str(answer.known) in system
    assert system.index("# User") < system.index("- home: Bergen") < system.index("hates rain")
    sources = {each.source.partition("/")[0] for each in answer.known.entries}
    assert {"Note", "one"} == sources


async def test_what_is_said_in_the_talk_itself_is_not_recalled_again(
    memory: recollect.Recollect,
) -> None:
    """The talk so far stands in the turns, in order, and not in the block as well."""
    model = ScriptedModel(["Noted.", "Bergen."])
    bot = Chatbot(memory, model, ADA, thread="talk")
    await bot.reply("I live in Bergen.")

    await bot.reply("Where do I live?")

    assert NOTHING_KNOWN in model.requests[-1].system
    assert ["I live in Bergen.", "Noted.", "Where do I live?"] == [
        turn.text for turn in model.requests[-1].turns
    ]


async def test_the_budget_of_tokens_is_kept(memory: recollect.Recollect) -> None:
    """Of what bears on a question as much is shown as fits, with the lines around it."""
    for number in range(30):
        text = f"Boat number {number} is called {'x' * 40}{number}."
        await memory.append(ADA, f"t{number}", [recollect.NewMessage(role="user", text=text)])
    small = Chatbot(memory, None, ADA, budget_tokens=100)
    large = Chatbot(memory, None, ADA, budget_tokens=500)
    message = await small.hear("Which boat?")

    few, many = await small.known(message), await large.known(message)

    assert 0 < few.tokens <= 100
    assert few.tokens < many.tokens <= 500
    assert len(few.entries) < len(many.entries)


@pytest.mark.parametrize("error", [ModelError("broken"), ModelUnavailableError("away", 2.0)])
async def test_a_model_that_fails_leaves_what_it_said(
    memory: recollect.Recollect, error: ModelError
) -> None:
    """The error is raised, and the part of the answer is kept as such."""
    bot = Chatbot(memory, Breaking(error), ADA, thread="talk")

    with pytest.raises(type(error)):
        await bot.reply("Would you?")

    (_, answer) = (await memory.messages(ADA, "talk")).rows
    assert ("assistant", "I would", {"interrupted": True}) == _shape(answer)


async def test_an_answer_that_is_stopped_is_kept_as_far_as_it_came(
    memory: recollect.Recollect,
) -> None:
    """Stopping is cancelling: nothing that was streamed is lost by it."""
    model = Breaking()
    bot = Chatbot(memory, model, ADA, thread="talk")
    async with anyio.create_task_group() as group:
        group.start_soon(bot.reply, "Would you?")
        await model.waits.wait()

        group.cancel_scope.cancel()

    (_, answer) = (await memory.messages(ADA, "talk")).rows
    assert ("assistant", "I would", {"interrupted": True}) == _shape(answer)


async def test_leaving_an_answer_early_keeps_what_was_read(memory: recollect.Recollect) -> None:
    """What nobody read of it was not streamed."""
    bot = Chatbot(memory, ScriptedModel(["one two three"]), ADA, thread="talk")

    async with bot.answering(await bot.hear("Count.")) as answer:
        async for piece in answer.pieces:
            if piece.startswith("two"):
                break

    assert answer.kept is not None
    assert ("assistant", "one two ", {"interrupted": True}) == _shape(answer.kept)


def _shape(message: Message) -> tuple[str, str, Mapping[str, object]]:
    told = {name: each for name, each in message.metadata.items() if name != ANSWERS}
    return message.role, message.text, told


async def test_without_a_model_all_is_kept_and_recalled(memory: recollect.Recollect) -> None:
    """Only answering needs one."""
    bot = Chatbot(memory, None, ADA)
    await bot.hear("The key is under the mat.")
    bot.new_thread()
    message = await bot.hear("Where is the key?")

    known = await bot.known(message)

    assert ["The key is under the mat."] == [each.entry.text for each in known.entries]
    with pytest.raises(UsageError, match="without a model"):
        async with bot.answering(message):
            pass


async def test_a_correction_replaces_and_the_history_shows_both(
    memory: recollect.Recollect,
) -> None:
    """Each version of the value with the words that it rests on."""
    bot = Chatbot(memory, None, ADA, thread="talk")
    await bot.hear("My name is Ada. I live in Bergen.")
    await memory.form(ADA)
    bot.new_thread()

    corrected = await bot.correct("User", "User", "/home", "Oslo", said="No: Oslo!")

    assert {"user_name": "Ada", "home": "Oslo"} == corrected.value
    old, new = await memory.history(ADA, "User", "User")
    assert ("formed", "corrected /home") == (old.cause, new.cause)
    assert ["I live in Bergen", "No: Oslo!"] == [
        each.quote for version in (old, new) for each in version.evidence["/home"]
    ]
    assert old.evidence["/user_name"] == new.evidence["/user_name"]


async def test_a_correction_rests_on_its_own_words_alone(memory: recollect.Recollect) -> None:
    """Erasing the talk in which the value was wrong leaves the right one, and the other way."""
    bot = Chatbot(memory, None, ADA, thread="wrong")
    await bot.hear("I live in Bergen.")
    await memory.form(ADA)
    right = bot.new_thread()
    await bot.correct("User", "User", "/home", "Oslo", said="Oslo")

    await memory.erase(ADA, recollect.EraseThread(thread="wrong"))
    kept = await memory.get(ADA, "User", "User")
    await memory.erase(ADA, recollect.EraseThread(thread=right))

    assert kept is not None
    assert {"home": "Oslo"} == kept.value
    assert await memory.get(ADA, "User", "User") is None


@pytest.mark.parametrize(
    ("pointer", "value", "error"),
    [
        ("/age", -3, UsageError),
        ("/colour", "blue", UsageError),
        ("", "all", UsageError),
        ("/age/years", 30, NotFoundError),
        ("home", "Oslo", UsageError),
    ],
)
async def test_a_correction_that_cannot_be_leaves_nothing(
    memory: recollect.Recollect, pointer: str, value: recollect.Json, error: type[Exception]
) -> None:
    """The schema holds for people too; what was said to that end is not kept either."""
    bot = Chatbot(memory, None, ADA, thread="talk")
    await bot.hear("I live in Bergen.")
    await memory.form(ADA)

    with pytest.raises(error):
        await bot.correct("User", "User", pointer, value, said="change it")

    assert [("user", "I live in Bergen.")] == await said(memory, "talk")
    assert 1 == len(await memory.history(ADA, "User", "User"))


async def test_a_correction_alone_makes_nothing_due(
    memory: recollect.Recollect, clock: FrozenClock
) -> None:
    """It is done already; a model sees it with what is said next."""
    bot = Chatbot(memory, None, ADA, thread="talk")
    await bot.hear("I live in Bergen.")
    await memory.form(ADA)
    await bot.correct("User", "User", "/home", "Oslo", said="Oslo")
    clock.advance(3_600)
    assert memory.worker is not None

    formed = await memory.worker.drain()

    assert [] == formed


async def test_only_what_is_in_force_is_shown_as_profile(memory: recollect.Recollect) -> None:
    """What waits in quarantine is no profile."""
    write = recollect.PutMemory(
        type="User", key="User", value={"home": "Bergen"}, state="quarantined"
    )
    await memory.apply(ADA, [write])
    bot = Chatbot(memory, None, ADA)

    known = await bot.known(await bot.hear("Where do I live?"))

    assert () == known.profile


async def test_the_prompt_of_an_assistant_is_its_own(memory: recollect.Recollect) -> None:
    """What is remembered is never read as a template."""
    model = ScriptedModel(["Yes.", "Yes."])
    prompts = FormationPrompts(chatbot="Be {{brief}}. {memories}")
    formation = replace(FormationSettings(), prompts=prompts)
    bot = Chatbot(memory, model, ADA, formation=formation)
    await bot.reply("The word is {time} and {0.__class__}.")
    bot.new_thread()

    await bot.reply("What is the word?")

    assert model.requests[0].system.startswith("Be {brief}. ")
    assert "The word is {time} and {0.__class__}." in model.requests[1].system


def test_a_value_that_looks_like_a_template_is_text() -> None:
    """Only the template's own variables are filled in."""
    assert "{b} {a}" == filled("{a} {{a}}", {"a": "{b}", "b": "no"})


async def test_a_greeting_recites_nothing(memory: recollect.Recollect) -> None:
    """It gets the profile alone."""
    model = ScriptedModel(["Noted.", "Hello!"])
    bot = Chatbot(memory, model, ADA, thread="one")
    await memory.put(ADA, "User", "User", {"home": "Bergen"})
    await bot.reply("The harbour freezes in winter.")
    bot.new_thread()

    await bot.reply("Hello!")

    system = model.requests[-1].system
    assert "- home: Bergen" in system
    assert "harbour" not in system


async def test_what_the_turns_cut_off_may_be_remembered(memory: recollect.Recollect) -> None:
    """Only what a prompt shows of the talk counts as shown."""
    model = ScriptedModel(lambda _: ModelAnswer(text="x" * 6_000))
    bot = Chatbot(memory, model, ADA, thread="talk")
    await bot.reply("My boat is called Ida.")
    for number in range(5):
        await bot.reply(f"Question {number}")

    known = await bot.known(await bot.hear("What is my boat called?"))

    assert "My boat is called Ida." in str(known)
    assert "Question 4" not in str(known)


async def test_a_model_sees_only_the_newest_turns(memory: recollect.Recollect) -> None:
    """The first is the user's, whatever the budget cuts off."""
    model = ScriptedModel(lambda _: ModelAnswer(text="x" * 6_000))
    bot = Chatbot(memory, model, ADA, thread="talk")
    for number in range(6):
        await bot.reply(f"Question {number}")

    turns = model.requests[-1].turns
    assert "user" == turns[0].role
    assert "Question 5" == turns[-1].text
    assert len(turns) < 11


async def test_the_rules_form_by_the_types_of_the_scope(memory: recollect.Recollect) -> None:
    """The demonstration's profile says "name", and its note has one field."""
    formation = FormationSettings(types=read_types())
    bot = Chatbot(
        memory,
        RuleModel(),
        ADA,
        thread="one",
        formation=formation,
        settings={"types": [each.as_config() for each in read_types()]},
    )
    put = recollect.PutMemory(type="User", key="User", value={"name": "Mira"})
    await memory.apply(ADA, [put])

    await bot.reply("My name is Mirabel. I moved to Lisbon. My parrot eats mango.")
    await memory.form(ADA)

    profile = await memory.get(ADA, "User", "User")
    notes = (await memory.memories(ADA, type_="Note")).rows
    assert profile is not None
    assert {"name": "Mirabel", "home": "Lisbon"} == profile.value
    assert [{"note": "My parrot eats mango"}] == [each.value for each in notes]


@pytest.mark.parametrize("asked", ["我住在哪里？", "我住在哪裡？", "Where do I live?"])
async def test_a_field_is_quoted_by_its_name_in_any_language(
    memory: recollect.Recollect, asked: str
) -> None:
    """The value alone is too short to be known by: two characters stand in any answer."""
    await memory.put(ADA, "User", "User", {"home": "成都"})
    await Chatbot(memory, RuleModel(), ADA, thread="talk").reply(asked)

    (answer,) = await memory.last_messages(ADA, "talk", limit=1)

    home = {"type": "User", "key": name_digest("User"), "quoted": True}
    assert home in references_in(answer)


@pytest.mark.parametrize(
    ("first", "then", "asked", "former"),
    [
        ("I live in Utrecht.", "I moved to Porto.", "Where did I live before?", "Utrecht"),
        ("我住在苏州。", "我搬到成都了。", "我以前住在哪里？", "苏州"),
    ],
)
async def test_the_former_value_of_a_field_is_quoted_too(
    memory: recollect.Recollect, first: str, then: str, asked: str, former: str
) -> None:
    """The profile has it beside the field, with when it ended."""
    for said in (first, then):
        await Chatbot(memory, RuleModel(), ADA, thread="told").reply(said)
        await memory.form(ADA)

    told = await Chatbot(memory, RuleModel(), ADA, thread="talk").reply(asked)
    (answer,) = await memory.last_messages(ADA, "talk", limit=1)

    home = {"type": "User", "key": name_digest("User"), "quoted": True}
    assert former in told
    assert home in references_in(answer)


async def test_an_answer_keeps_what_it_was_given_without_its_names(
    memory: recollect.Recollect,
) -> None:
    """First what it quotes; by digests, so that an erase leaves no key or thread name behind."""
    await memory.put(ADA, "User", "User", {"home": "Oslo", "user_name": "Cello"})
    await memory.put(ADA, "Note", "secret-key", {"content": "The cello stands in the attic."})
    await memory.append(ADA, "secret-thread", "The boat is called Ida. It leaks.")
    bot = Chatbot(memory, RuleModel(), ADA, thread="talk")

    used = []
    for asked in ("Where is the cello?", "What is the boat called?", "Where do I live?"):
        await bot.reply(asked)
        (answer,) = await memory.last_messages(ADA, "talk", limit=1)
        used.append(references_in(answer))

    note = {"type": "Note", "key": name_digest("secret-key"), "quoted": True}
    said = {"thread": name_digest("secret-thread"), "position": 1, "quoted": True}
    home = {"type": "User", "key": name_digest("User"), "quoted": True}
    assert [note, said, home] == [each[0] for each in used]
    assert [1, 1, 1] == [sum("quoted" in each for each in found) for found in used]
    assert "secret" not in str(used)


async def test_an_answer_keeps_few_references(memory: recollect.Recollect) -> None:
    for number in range(30):
        await memory.append(ADA, f"t{number}", f"Boat number {number} is called {number}{'x' * 9}.")
    bot = Chatbot(memory, ScriptedModel(["I know them."]), ADA, thread="talk")

    await bot.reply("Which boat?")
    (answer,) = await memory.last_messages(ADA, "talk", limit=1)

    assert USED_MAX == len(references_in(answer))


def references_in(answer: Message) -> list[JsonObject]:
    """Return what an answer refers to as given."""
    used = answer.metadata["used"]
    assert isinstance(used, list | tuple)
    return [each for each in used if isinstance(each, Mapping)]


async def test_the_answer_to_news_does_not_outlast_their_erase(
    memory: recollect.Recollect,
) -> None:
    """The rules say what kind of thing they noted, and leave the words to the user's message."""
    bot = Chatbot(memory, RuleModel(), ADA, thread="talk")
    message = await bot.hear("Guess what, I've taken up the cello; my teacher is called Duarte.")
    async with bot.answering(message) as answer:
        async for _ in answer.pieces:
            continue
    await memory.form(ADA)
    found = [each.text for each in (await memory.recall(ADA, "cello Duarte")).entries]

    await memory.erase(ADA, recollect.EraseMessages(thread="talk", messages=[message.id]))

    assert 2 == sum("cello" in each for each in found)
    assert "what you told me" in answer.text
    left = (await memory.recall(ADA, "cello Duarte")).entries
    assert not any("cello" in each.text or "Duarte" in each.text for each in left)


async def answered_during(memory: recollect.Recollect, target: EraseTarget) -> Message:
    """Ask for a secret, and erase *target* while it is answered; return the question."""
    bot = Chatbot(memory, ScriptedModel(["It is 4711, as you said."]), ADA, thread="talk")
    said = await bot.hear("My number is 4711. What is it?")
    async with bot.answering(said, once=True) as answer:
        async for _ in answer.pieces:
            await memory.erase(ADA, target)
    assert answer.kept is None
    return said


ERASED: dict[str, EraseTarget] = {
    "thread": recollect.EraseThread(thread="talk"),
    "scope": recollect.EraseScope(),
    "another thread": recollect.EraseThread(thread="before"),
}


@pytest.mark.parametrize("name", ERASED)
async def test_an_answer_during_an_erase_is_not_kept(
    memory: recollect.Recollect, name: str
) -> None:
    """It may repeat what was erased, also of another talk of the scope."""
    await memory.append(ADA, "before", "My number is 4711.")

    said = await answered_during(memory, ERASED[name])

    rows = (await memory.messages(ADA, "talk")).rows
    assert [said] * (name == "another thread") == list(rows)


async def test_what_was_erased_is_not_answered(memory: recollect.Recollect) -> None:
    """Erased after it was heard, it does not reach the model."""
    asked: list[ModelRequest] = []

    def answer(request: ModelRequest) -> str:
        asked.append(request)
        return "Aye."

    bot = Chatbot(memory, ScriptedModel(answer), ADA)
    for target in (recollect.EraseThread(thread=bot.thread), recollect.EraseScope()):
        said = await bot.hear("My number is 4711.")
        await memory.erase(ADA, target)

        with pytest.raises(GoneError, match="erased or removed"):
            async with bot.answering(said):
                pass

    assert ([], ()) == (asked, (await memory.threads(ADA)).rows)


async def test_an_answer_that_outlives_an_erase_is_found(
    memory: recollect.Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chatbot that does not guard its answer brings erased words back."""

    async def unguarded(memory: recollect.Recollect, _: object) -> recollect.Recollect:
        return memory

    monkeypatch.setattr("recollect.chat.chatbot.guarded", unguarded)
    with pytest.raises(AssertionError):
        await answered_during(memory, recollect.EraseScope())

    assert "4711" in (await memory.messages(ADA, "talk")).rows[0].text
