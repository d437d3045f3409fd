"""Summarise the older part of a conversation with a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from recollect.errors import UsageError
from recollect.messages.coercion import MessageLike, coerced_all
from recollect.messages.message_fields import AnyMessage, kind_of, mapping_of
from recollect.messages.message_types import MessageClasses, family_of
from recollect.messages.pairs import tool_pairs
from recollect.messages.summary_prompt import introduced, read_summary, summary_request
from recollect.messages.token_counters import (
    ListCounter,
    MessageCounter,
    list_counter,
    rough_tokens,
)
from recollect.observability.spans import answer_of
from recollect.ports import Model

SUMMARY_KEY: Final = "conversation_summary"
"""The key of additional_kwargs under which a summary's message holds the model's summary."""
INPUT_TOKENS_MAX: Final = 16_000
OUTPUT_TOKENS_MAX: Final = 1_024


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryPlan:
    """
    Which messages to replace by a summary.

    *system* are the leading system messages, which stay; *previous* is the message of an earlier
    summary, with the text *summary*; *old* are summarised, *kept* are unchanged.
    """

    system: tuple[AnyMessage, ...]
    previous: AnyMessage | None
    summary: str | None
    old: tuple[AnyMessage, ...]
    kept: tuple[AnyMessage, ...]

    def parts(
        self, counter: MessageCounter | str = rough_tokens, tokens_max: int = INPUT_TOKENS_MAX
    ) -> Iterator[list[AnyMessage]]:
        """
        Yield the old messages in parts of at most *tokens_max* tokens.

        Tool calls stay with their results; a larger group or message is a part of its own.
        """
        count = list_counter(counter)
        part: list[AnyMessage] = []
        for group in tool_pairs(self.old):
            more = [self.old[place] for place in group]
            if part and count([*part, *more]) > tokens_max:
                yield part
                part = []
            part += more
        yield part


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarizedMessages:
    """
    A conversation whose older part was replaced by the text *summary*.

    *message* is the system message with the summary; *messages* are those of the next prompt: the
    system messages, *message*, and the kept ones.
    """

    summary: str
    message: AnyMessage
    messages: tuple[AnyMessage, ...]
    plan: SummaryPlan = field(repr=False)

    @property
    def removals(self) -> list[AnyMessage]:
        """
        A `RemoveMessage` for every message that the summary replaces, for `add_messages`.

        Raises:
            UsageError: A replaced message has no id.
        """
        plan = self.plan
        gone = [*([plan.previous] if plan.previous is not None else []), *plan.old]
        if nameless := sum(each.id is None for each in gone):
            raise UsageError(
                f"{nameless} of {len(gone)} messages have no id by which they could be removed: "
                "pass the list through add_messages first, or use SummarizedMessages.messages"
            )
        classes = _classes(plan)
        return [classes.remove(id=each.id) for each in gone]


def plan_summary(
    messages: Iterable[MessageLike],
    *,
    keep: int = 2,
    trigger_messages: int | None = None,
    trigger_tokens: int | None = None,
    counter: MessageCounter | str = rough_tokens,
    summary: str | None = None,
) -> SummaryPlan | None:
    """
    Return which *messages* to summarise; ``None`` if no trigger is reached.

    The last *keep* messages stay, or more if the cut would separate a tool call from its result.
    Leading system messages stay. A summary message made by `summarised` is replaced by the next
    one.

    Args:
        trigger_messages: Wait until there are this many messages.
        trigger_tokens: Wait until they have this many tokens, by *counter*. Either trigger
            suffices; without triggers, everything before the kept messages is summarised now.
        summary: An earlier summary that is not among *messages*.

    Raises:
        UsageError: *keep* is negative.
    """
    if keep < 0:
        raise UsageError(f"keep={keep} is negative: give 0 or more messages to keep")
    given = coerced_all(messages)
    if not _is_due(given, list_counter(counter), trigger_messages, trigger_tokens):
        return None
    previous = next((each for each in reversed(given) if _summary_in(each) is not None), None)
    others = [each for each in given if each is not previous]
    first = next((at for at, each in enumerate(others) if kind_of(each) != "system"), len(others))
    body = others[first:]
    wanted = max(0, len(body) - keep)
    cut = next((group.start for group in tool_pairs(body) if wanted in group), wanted)
    if cut == 0:
        return None
    said = summary if summary is not None or previous is None else _summary_in(previous)
    return SummaryPlan(
        system=tuple(others[:first]),
        previous=previous,
        summary=said or None,
        old=tuple(body[:cut]),
        kept=tuple(body[cut:]),
    )


def summarised(plan: SummaryPlan, text: str) -> SummarizedMessages:
    """Return the conversation of *plan* with *text* as the summary of its older part."""
    message = summary_message(text, _classes(plan))
    messages = (*plan.system, message, *plan.kept)
    return SummarizedMessages(summary=text, message=message, messages=messages, plan=plan)


async def summarize_conversation(
    messages: Iterable[MessageLike],
    model: Model,
    *,
    keep: int = 2,
    trigger_messages: int | None = None,
    trigger_tokens: int | None = None,
    counter: MessageCounter | str = rough_tokens,
    summary: str | None = None,
    input_tokens_max: int = INPUT_TOKENS_MAX,
    output_tokens_max: int = OUTPUT_TOKENS_MAX,
) -> SummarizedMessages | None:
    """
    Summarise the older part of *messages*; return ``None`` if no trigger is reached.

    An earlier *summary* is extended. Input beyond *input_tokens_max* takes several calls of
    *model*, each extending the previous summary, so that nothing is skipped. The result is returned
    only after the last call, so that a failure loses nothing. For the other arguments see
    `plan_summary`.

    Raises:
        ModelError: The model failed or refused, or its summary was cut off.
    """
    plan = plan_summary(
        messages,
        keep=keep,
        trigger_messages=trigger_messages,
        trigger_tokens=trigger_tokens,
        counter=counter,
        summary=summary,
    )
    if plan is None:
        return None
    text = await summary_of(
        plan,
        model,
        counter=counter,
        input_tokens_max=input_tokens_max,
        output_tokens_max=output_tokens_max,
    )
    return summarised(plan, text)


async def summary_of(
    plan: SummaryPlan,
    model: Model,
    *,
    counter: MessageCounter | str = rough_tokens,
    input_tokens_max: int = INPUT_TOKENS_MAX,
    output_tokens_max: int = OUTPUT_TOKENS_MAX,
) -> str:
    """
    Return the model's summary of a plan's older part, extending the previous one.

    Raises:
        ModelError: The model failed, refused, or its summary was cut off.
    """
    text = plan.summary
    for part in plan.parts(counter, input_tokens_max):
        request = summary_request(part, text, output_tokens_max=output_tokens_max)
        text = read_summary(await answer_of(model, request), output_tokens_max=output_tokens_max)
    return text or ""


def summary_message(text: str, classes: MessageClasses) -> AnyMessage:
    """Return the system message of the summary *text* for a prompt."""
    return classes.system(content=introduced(text), additional_kwargs={SUMMARY_KEY: text})


def is_summary(message: AnyMessage) -> bool:
    """Return True if *message* is a summary made by `summarised`."""
    return _summary_in(message) is not None


def _is_due(
    messages: list[AnyMessage], count: ListCounter, at_messages: int | None, at_tokens: int | None
) -> bool:
    if at_messages is None and at_tokens is None:
        return True
    if at_messages is not None and len(messages) >= at_messages:
        return True
    return at_tokens is not None and count(messages) >= at_tokens


def _summary_in(message: AnyMessage) -> str | None:
    """Return the summary in *message*; ``None`` if it is not a summary's message."""
    text = mapping_of(message, "additional_kwargs").get(SUMMARY_KEY)
    return text if isinstance(text, str) and kind_of(message) == "system" else None


def _classes(plan: SummaryPlan) -> MessageClasses:
    return family_of(plan.old)
