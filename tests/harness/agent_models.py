"""An agent's model that reads nothing but its request, and what a context in it shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable

BLOCK = re.compile(r"<memory ([0-9a-f]+)> .*\n</memory \1>", re.DOTALL)


@dataclass(frozen=True)
class ShownSource:
    """A source as a context shows it: its speaker or its type, and its words."""

    who: str
    text: str


def records_in(messages: Sequence[BaseMessage]) -> list[ShownSource]:
    """Return what the contexts in a request show, documents as one text each."""
    found: list[ShownSource] = []
    for block in (block for each in messages for block in BLOCK.finditer(each.text)):
        for heading, lines in re.findall(r"^# (.*)\n((?:[^#].*\n)*)", block[0], re.MULTILINE):
            if lines.startswith("- "):
                fields = "; ".join(re.findall(r"^- (.*)$", lines, re.MULTILINE))
                found.append(ShownSource(heading.rpartition(" [")[0], fields))
            for said in re.findall(r"^\[\w+\] (.*)$", lines, re.MULTILINE):
                who, _, text = said.partition(": ")
                found.append(ShownSource(who, text) if text else ShownSource("", said))
    return found


class AgentModel(BaseChatModel):
    """A chat model that takes any tools and answers by `answer`, which its subclasses write."""

    @property
    def _llm_type(self) -> str:
        return "agent"

    def bind_tools(
        self, tools: Sequence[Any], **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.answer(messages))])

    def answer(self, messages: Sequence[BaseMessage]) -> AIMessage:
        """Return the answer to a request."""
        raise NotImplementedError


class Reader(AgentModel):
    """A chat model that reads nothing but its request, which it keeps; *answers* come first."""

    answers: list[AIMessage]
    requests: list[list[BaseMessage]]

    def answer(self, messages: Sequence[BaseMessage]) -> AIMessage:
        self.requests.append(list(messages))
        return self.answers.pop(0) if self.answers else AIMessage(answer_to(messages))


def answer_to(messages: Sequence[BaseMessage]) -> str:
    """Answer by rules: where the person lives, if a block of data says so; else a greeting."""
    asked = next(each for each in reversed(messages) if each.type == "human")
    if "Where do I live" not in BLOCK.sub("", asked.text):
        return "Good to know, thank you for telling me"
    profiles = [each.text for each in records_in(messages) if each.who == "User"]
    homes = [re.search(r"home: (\w+)", each) for each in profiles]
    return next((home[1] for home in homes if home), "I do not know")


def turn(text: str, **fields: Any) -> dict[str, Any]:
    return {"messages": [HumanMessage(text, **fields)]}


def in_thread(thread: str, **named: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread, **named}}
