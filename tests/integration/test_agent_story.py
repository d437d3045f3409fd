"""An agent of LangChain that remembers across threads, learns by feedback, follows examples."""

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.checkpoint.memory import InMemorySaver

import recollect
from recollect import SyncRecollect
from recollect.agents.examples import Examples
from recollect.agents.instructions import Instructions, Trajectory
from recollect.integrations.langchain.middleware import (
    CompactionMiddleware,
    ExamplesMiddleware,
    FormationMiddleware,
    InstructionsMiddleware,
    RecallMiddleware,
)
from recollect.integrations.langchain.middleware import recall_middleware as recalling
from recollect.integrations.langgraph import RecollectStore
from recollect.ports import ToolCall
from recollect.recall.rendering import Record
from recollect.testing import RuleModel, ScriptedModel
from tests.harness.agent_models import BLOCK, AgentModel, in_thread, turn
from tests.harness.rendered_blocks import read_block

new_agent: Any = create_agent  # its own types are too many to be told apart here
ADA = ("users", "ada")


def records_in(messages: Sequence[BaseMessage]) -> list[Record]:
    """Return the records in the blocks of examples of a request."""
    blocks = [found[0] for each in messages for found in BLOCK.finditer(each.text)]
    return [record for each in blocks if "\n{" in each for record in read_block(each)]


class Reader(AgentModel):
    """A chat model that reads nothing but its request."""

    def answer(self, messages: Sequence[BaseMessage]) -> AIMessage:
        return AIMessage(answer_to(messages))


def answer_to(messages: Sequence[BaseMessage]) -> str:
    """
    Answer by rules: where the person lives, what kind of request it is, otherwise a greeting.

    How it is answered the system text says; what is known and how it was done before stands in
    blocks of data.
    """
    system = "\n".join(each.text for each in messages if each.type == "system")
    asked = next(each for each in reversed(messages) if each.type == "human")
    words = BLOCK.sub("", asked.text)
    records = records_in(messages)
    if "Where do I live" in words:
        home = re.search(r"^# User \[\w+\]\n(?:- .*\n)*?- home: (\w+)", asked.text, re.MULTILINE)
        answer = home[1] if home else "I do not know"
    elif "Which desk" in words:
        done = [each.text for each in records if each.who == "output"]
        answer = done[-1] if done else "no desk"
    else:
        answer = "Good to know, thank you for telling me"
    return answer.upper() if "Answer in capitals" in system else answer


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[SyncRecollect]:
    url = f"sqlite:///{tmp_path}/store.db"
    with recollect.open_sync(url, embedder="none", model=RuleModel(), worker=False) as memory:
        yield memory


@pytest.fixture
def reader() -> Reader:
    return Reader()


@dataclass
class Told:
    """The answers of the story's agent."""

    home: str
    before: str
    after: str
    rolled_back: str
    desk_of_parcel: str
    desk_of_password: str


def story(
    memory: SyncRecollect,
    reader: Reader,
    wrap: Callable[[AgentMiddleware], AgentMiddleware],
    *,
    awaits: bool = False,
) -> Told:
    """Let an agent remember across threads, learn from feedback, and follow examples."""
    change: Any = {"rule": "Answer in capitals", "reason": "could not read it"}
    teacher = ScriptedModel([ToolCall(name="add_rule", arguments=change)])
    rules = Instructions(memory, ("agents",), model=teacher, automatic=True)
    rules.write(["Be brief"], by="sam", why="to begin with")
    examples = Examples(memory, ("agents",))
    examples.add("Which desk for a lost parcel?", "delivery", reason="it is about sending")
    examples.add("Which desk for a forgotten password?", "access", reason="it is about login")
    middleware: list[AgentMiddleware] = [
        CompactionMiddleware(trigger_messages=40),
        InstructionsMiddleware(rules),
        ExamplesMiddleware(examples, count=1),
        RecallMiddleware(memory, lambda caller: ("users", caller.configurable["user"])),
        FormationMiddleware(memory, lambda caller: ("users", caller.configurable["user"])),
    ]
    agent = new_agent(
        reader,
        tools=[],
        store=RecollectStore(memory, ("items",)),
        checkpointer=InMemorySaver(),
        middleware=[wrap(each) for each in middleware],
    )

    def said(text: str, thread: str) -> str:
        asked, config = turn(text), in_thread(thread, user="ada")
        result = (
            asyncio.run(agent.ainvoke(asked, config)) if awaits else agent.invoke(asked, config)
        )
        return str(result["messages"][-1].content)

    said("My name is Ada. I live in Turku.", "monday")
    memory.form(ADA)
    home = said("Where do I live?", "tuesday")
    before = said("I like rowing.", "tuesday")
    rules.propose([Trajectory(lines=(("assistant", before),), feedback="Too small to read")])
    after = said("I like tea.", "tuesday")
    rules.roll_back(1, by="sam", why="too loud")
    return Told(
        home=home,
        before=before,
        after=after,
        rolled_back=said("I like snow.", "wednesday"),
        desk_of_parcel=said("Which desk for my parcel?", "wednesday"),
        desk_of_password=said("Which desk for my password?", "wednesday"),
    )


TOLD = Told(
    home="Turku",
    before="Good to know, thank you for telling me",
    after="GOOD TO KNOW, THANK YOU FOR TELLING ME",
    rolled_back="Good to know, thank you for telling me",
    desk_of_parcel="delivery",
    desk_of_password="access",
)


@pytest.mark.parametrize("awaits", [False, True])
def test_an_agent_remembers_learns_and_follows_examples(
    memory: SyncRecollect, reader: Reader, *, awaits: bool
) -> None:
    """Across threads; instructions change by feedback and roll back; examples suit the input."""
    assert TOLD == story(memory, reader, lambda each: each, awaits=awaits)


class Nothing(AgentMiddleware[Any, Any, Any]):
    """Middleware that does nothing, in the place of one that is taken out."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    @property
    def name(self) -> str:
        return self._name


@pytest.mark.parametrize(
    ("dropped", "field"),
    [
        (RecallMiddleware, "home"),
        (FormationMiddleware, "home"),
        (InstructionsMiddleware, "after"),
        (ExamplesMiddleware, "desk_of_parcel"),
    ],
)
def test_without_one_of_its_parts_the_agent_forgets(
    memory: SyncRecollect, reader: Reader, dropped: type, field: str
) -> None:
    """The answers come of the middleware: with one of them out, its answer is another."""
    told = story(
        memory, reader, lambda each: Nothing(each.name) if isinstance(each, dropped) else each
    )

    assert getattr(TOLD, field) != getattr(told, field)


def test_without_the_block_the_agent_does_not_know(
    memory: SyncRecollect, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant recalls and shows nothing of it."""
    monkeypatch.setattr(recalling, "with_block", lambda messages, _block: list(messages))

    assert "I do not know" == story(memory, reader, lambda each: each).home
