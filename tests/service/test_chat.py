"""A talk over HTTP: what is said is kept once, however often it is sent, and answered once."""

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio.to_thread
import httpx

import recollect
from recollect.chat import Chatbot
from recollect.errors import ModelError
from recollect.formation.config import Assistants, FormationSettings
from recollect.formation.prompt_texts import FormationPrompts
from recollect.formation.rule_model import RuleModel
from recollect.ports import ModelRequest
from recollect.server.testing import ROOT_SCOPE, Served
from recollect.testing.scripted_model import ScriptedModel

ADA = {"scope": ["users", "ada"]}
Connect = Callable[..., httpx.Client]
Start = Callable[..., Served]


def events_of(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the named events of a stream that has ended."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.partition(": ")[::2] for line in block.splitlines())
        if "event" in fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


def erased(client: httpx.Client, scope: dict[str, Any], target: dict[str, Any]) -> None:
    """Erase something, in the two steps that it takes."""
    shown = client.post("/v1/erase/preview", params=scope, json={"target": target}).json()
    done = client.post("/v1/erase", params=scope, json={"confirm": shown["confirm"]})
    assert done.is_success


def test_a_turn_of_a_chat_is_streamed_and_kept(starting: Start, connect: Connect) -> None:
    """Tokens come one by one; both messages are kept; what was recalled is told."""
    model = ScriptedModel(lambda _: "You live in Oslo.", identity="script/test")
    with connect(starting(model=model)) as client:
        answer = client.post("/v1/chat", params=ADA, json={"thread": "c", "text": "Home?"})
        messages = client.get("/v1/threads/c/messages", params=ADA).json()["messages"]

    events = events_of(answer.text)
    tokens = "".join(content["text"] for name, content in events if name == "token")
    assert "You live in Oslo." == tokens
    assert "done" == events[-1][0]
    assert [events[-1][1]["user"], events[-1][1]["assistant"]] == messages
    assert ["user", "assistant"] == [each["role"] for each in messages]


def test_a_chat_is_with_the_assistant_of_its_scope(starting: Start, connect: Connect) -> None:
    """Where a scope has an assistant of its own, it answers by that one's prompt."""
    asked: list[str] = []

    def answer(request: ModelRequest) -> str:
        asked.append(request.system)
        return "Aye."

    pirate = FormationSettings(
        prompts=FormationPrompts(chatbot="Speak as a pirate. {time} {memories}")
    )
    assistants = Assistants(
        named={"pirate": pirate}, scopes={(*ROOT_SCOPE, "users", "ada"): "pirate"}
    )
    model = ScriptedModel(answer, identity="script/test")
    with connect(starting(model=model, assistants=assistants)) as client:
        for scope in (ADA, {"scope": ["users", "bob"]}):
            client.post("/v1/chat", params=scope, json={"thread": "c", "text": "Home?"})

    assert [True, False] == [each.startswith("Speak as a pirate.") for each in asked]


def test_a_turn_said_again_under_its_key_is_answered_once(
    starting: Start, connect: Connect
) -> None:
    """The message is kept once, and told the answer that was kept; another key is another turn."""
    answers = iter(["You live in Oslo.", "In Oslo, I said."])
    model = ScriptedModel(lambda _: next(answers), identity="script/test")
    with connect(starting(model=model)) as client:
        told = [
            client.post(
                "/v1/chat",
                params=ADA,
                json={"thread": "c", "text": "Home?"},
                headers={"idempotency-key": key},
            )
            for key in ("turn-1", "turn-1", "turn-2")
        ]
        messages = client.get("/v1/threads/c/messages", params=ADA).json()["messages"]

    first, again, other = (events_of(each.text)[-1][1] for each in told)
    assert (first["user"], first["assistant"]) == (again["user"], again["assistant"])
    assert "In Oslo, I said." == other["assistant"]["text"]
    assert ["user", "assistant"] * 2 == [each["role"] for each in messages]


def test_a_turn_that_was_erased_is_not_said_again(starting: Start, connect: Connect) -> None:
    """A late retry of it is answered with 410, whether it was erased or removed, by no model."""
    asked: list[ModelRequest] = []

    def answer(request: ModelRequest) -> str:
        asked.append(request)
        return "In Oslo."

    turn, headers = {"thread": "c", "text": "Home?"}, {"idempotency-key": "turn-1"}
    with connect(starting(model=ScriptedModel(answer, identity="script/test"))) as client:
        for user in ("erased", "removed"):
            scope = {"scope": user}
            told = client.post("/v1/chat", params=scope, json=turn, headers=headers)
            message = events_of(told.text)[-1][1]["user"]["id"]
            if user == "erased":
                erased(client, scope, {"message": {"thread": "c", "id": message}})
            else:
                client.delete(f"/v1/threads/c/messages/{message}", params=scope)
            late = client.post("/v1/chat", params=scope, json=turn, headers=headers)
            messages = client.get("/v1/threads/c/messages", params=scope).json()["messages"]
            assert (410, "gone") == (late.status_code, late.json()["code"])
            assert ["assistant"] == [each["role"] for each in messages]
    assert 2 == len(asked)


def test_an_answer_during_an_erase_says_that_it_is_not_kept(
    starting: Start, connect: Connect
) -> None:
    """Its stream ends as usual; the thread stays erased."""
    asked, go = threading.Event(), threading.Event()

    async def answer(_: ModelRequest) -> str:
        asked.set()
        await anyio.to_thread.run_sync(go.wait)
        return "It is 4711."

    def say() -> httpx.Response:
        return client.post("/v1/chat", params=ADA, json={"thread": "c", "text": "My PIN is 4711"})

    model = ScriptedModel(answer, identity="script/test")
    with connect(starting(model=model)) as client, ThreadPoolExecutor(1) as pool:
        told = pool.submit(say)
        assert asked.wait(20)
        erased(client, ADA, {"thread": "c"})
        go.set()
        name, done = events_of(told.result(20).text)[-1]
        found = client.get("/v1/threads", params=ADA).json()["threads"]

    assert ("done", None, []) == (name, done["assistant"], found)
    assert "erased" in done["reason"]


def test_a_chat_without_a_model_keeps_and_says_so(client: httpx.Client) -> None:
    """Without a model the stream ends with what is known, no answer, and the reason."""
    answer = client.post("/v1/chat", params=ADA, json={"thread": "alone", "text": "Hello."})

    (_, kept), (name, done) = events_of(answer.text)
    assert ("done", None) == (name, done["assistant"])
    assert kept["user"] == done["user"]
    assert "no model" in done["reason"]


def test_what_was_said_is_told_as_kept_before_it_is_answered(
    starting: Start, connect: Connect
) -> None:
    """Whoever hears no answer knows all the same that the message is there, and under which id."""
    model = ScriptedModel([ModelError("the model is away")], identity="script/test")
    with connect(starting(model=model)) as client:
        answer = client.post("/v1/chat", params=ADA, json={"thread": "c", "text": "Home?"})
        messages = client.get("/v1/threads/c/messages", params=ADA).json()["messages"]

    (first, kept), (last, _) = events_of(answer.text)
    assert ("kept", "error") == (first, last)
    assert [kept["user"]] == messages


def test_what_is_refused_for_its_stream_is_not_kept(starting: Start, connect: Connect) -> None:
    """A turn over the limit of open streams is refused before anything is kept."""
    with connect(starting(streams_max=1)) as client:
        with client.stream("GET", "/v1/changes", params=ADA) as changes:
            assert 200 == changes.status_code
            answer = client.post("/v1/chat", params=ADA, json={"thread": "c", "text": "Home?"})
        thread = client.get("/v1/threads/c", params=ADA)

    assert 429 == answer.status_code
    assert 404 == thread.status_code


def said_again_meanwhile(client: httpx.Client, asked: threading.Event, go: threading.Event) -> None:
    """Say something, say it again under the same key while it is being answered, and wait."""
    turn = {"thread": "c", "text": "Home?"}
    key = {"idempotency-key": "turn-1"}

    def say() -> str:
        return client.post("/v1/chat", params=ADA, json=turn, headers=key).text

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(say)
        assert asked.wait(20)
        with client.stream("POST", "/v1/chat", params=ADA, json=turn, headers=key) as again:
            lines = again.iter_lines()
            assert ": open" == next(lines)
            go.set()
            told = "\n".join(lines)
        answers = [first.result(20), told]
    texts = [events_of(each)[-1][1]["assistant"]["text"] for each in answers]
    assert ["In Oslo.", "In Oslo."] == texts


def test_what_is_said_again_while_it_is_answered_waits_for_that_answer(
    starting: Start, connect: Connect
) -> None:
    """Of an answer that is under way there is no second one: neither is kept twice."""
    asked, go = threading.Event(), threading.Event()
    answers = iter(["In Oslo.", "In Bergen."])

    async def answer(_: ModelRequest) -> str:
        asked.set()
        await anyio.to_thread.run_sync(go.wait)
        return next(answers)

    model = ScriptedModel(answer, identity="script/test")
    with connect(starting(model=model)) as client:
        said_again_meanwhile(client, asked, go)
        messages = client.get("/v1/threads/c/messages", params=ADA).json()["messages"]

    assert [("user", "Home?"), ("assistant", "In Oslo.")] == [
        (each["role"], each["text"]) for each in messages
    ]


async def test_of_two_answers_to_one_turn_the_first_is_kept() -> None:
    """Where two processes answer the same turn, the later one takes the answer that was kept."""
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        bots = [Chatbot(memory, ScriptedModel([text]), ("a",), thread="c") for text in "XY"]
        said = await bots[0].hear("Home?", idempotency_key="turn-1")
        async with bots[0].answering(said, once=True) as slow:
            async for _ in slow.pieces:
                continue
            async with bots[1].answering(said, once=True) as quick:
                async for _ in quick.pieces:
                    continue
        messages = (await memory.messages(("a",), "c")).rows

    assert ["Home?", "Y"] == [each.text for each in messages]
    assert slow.kept == quick.kept == messages[1]


async def test_messages_that_are_answered_at_once_get_their_own_answers() -> None:
    """Neither answer is taken for that of the other, now or when it is asked for again."""
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        bot = Chatbot(memory, ScriptedModel(["To one.", "To two."]), ("a",), thread="c")
        said = [await bot.hear(text, idempotency_key=text) for text in ("One?", "Two?")]
        async with bot.answering(said[0], once=True) as first:
            async for _ in first.pieces:
                continue
            async with bot.answering(said[1], once=True) as second:
                async for _ in second.pieces:
                    continue
        messages = (await memory.messages(("a",), "c")).rows
        again = [await bot.answer_to(each) for each in said]

    assert ["One?", "Two?", "To two.", "To one."] == [each.text for each in messages]
    assert [first.kept, second.kept] == again == [messages[3], messages[2]]


async def test_an_answer_without_a_mark_is_that_to_the_message_before_it() -> None:
    """A program may have stored it, or a version that marked none."""
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        bot = Chatbot(memory, None, ("a",), thread="c")
        said = await bot.hear("One?")
        (kept,) = await memory.append(("a",), "c", {"role": "assistant", "content": "To one."})
        later = await bot.hear("Two?")

        assert kept == await bot.answer_to(said)
        assert await bot.answer_to(later) is None


def test_the_search_of_each_answer_counts_as_a_recall(starting: Start, connect: Connect) -> None:
    """Of the scope and of the memories found, with a model or without; no repetition counts."""
    scripted = ScriptedModel(lambda _: "In Oslo.", identity="script/test")
    for model in (scripted, None):
        with connect(starting(model=model)) as client:
            value = {"value": {"context": "home", "content": "Ada lives in Oslo."}}
            client.put("/v1/memories/Note/home", params=ADA, json=value)
            for key in ("one", "two", "two"):
                body = {"thread": "c", "text": "Where do I live?"}
                client.post("/v1/chat", params=ADA, json=body, headers={"idempotency-key": key})
            days = client.get("/v1/usage", params=ADA).json()["days"]
            found = client.get("/v1/memories/Note/home/recalls", params=ADA).json()["recalls"]

        # Without a model nothing is kept that a repetition could repeat, so it searches anew.
        searches = 2 if model else 3
        assert searches == days[0]["recalls"]
        assert ["Where do I live?"] * searches == [each["query"] for each in found]


def test_only_what_was_asked_counts_as_a_recall_of_a_memory(
    starting: Start, connect: Connect
) -> None:
    """A statement asks for nothing; a profile, which each prompt has, counts where it is quoted."""
    model = ScriptedModel(lambda _: "You live in Oslo.", identity="script/test")
    with connect(starting(model=model)) as client:
        for address, value in (
            ("Note/home", {"context": "home", "content": "Ada lives in Oslo."}),
            ("User/User", {"home": "Oslo", "occupation": "cook"}),
        ):
            client.put(f"/v1/memories/{address}", params=ADA, json={"value": value})
        for text in ("Translate: I live in Oslo.", "Where do I live?"):
            client.post("/v1/chat", params=ADA, json={"thread": "c", "text": text})
        paths = [f"/v1/memories/{address}/recalls" for address in ("Note/home", "User/User")]
        found = [client.get(path, params=ADA).json()["recalls"] for path in paths]

    assert [["Where do I live?"]] * 2 == [[use["query"] for use in each] for each in found]


def test_rules_use_no_tokens(starting: Start, connect: Connect) -> None:
    """They form memories without a model, and what they cost is nothing."""
    with connect(starting(model=RuleModel())) as client:
        client.post("/v1/chat", params=ADA, json={"thread": "c", "text": "I live in Oslo."})
        (formed,) = client.post("/v1/form", params=ADA).json()["formations"]
        days = client.get("/v1/usage", params=ADA).json()["days"]

    assert {"stored": 1} == formed["receipt"]["counts"]
    assert 0 == formed["tokens"] == days[0].get("tokens", 0)
