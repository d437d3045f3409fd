"""Count the tokens of messages, by an estimate or a caller's counter."""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

from recollect.errors import UsageError
from recollect.messages.coercion import MessageLike, coerced_all
from recollect.messages.message_fields import (
    AnyMessage,
    Block,
    kind_of,
    mapping_of,
    text_of,
    tool_call_id_of,
    tool_calls_of,
)
from recollect.ports import TokenCounter, Tool
from recollect.records import JsonObject

TOKENS_PER_IMAGE: Final = 85
EXTRA_TOKENS_PER_MESSAGE: Final = 3.0
# The most that a provider's reported tokens can raise an estimate, as in langchain-core.
_SCALE_MAX: Final = 1.25
_IMAGES: Final = frozenset({"image", "image_url"})
_ROLES: Final = {"ai": "assistant", "human": "user", "tool": "tool", "function": "function"}

# The names of a call's id in content blocks that repeat the call.
_CALL_IDS: Final = ("id", "call_id", "tool_use_id")

_WIDE: Final = re.compile(
    r"[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)

ListCounter: TypeAlias = Callable[[list[AnyMessage]], int]


@runtime_checkable
class CountingModel(Protocol):
    """A model with a token counter of its own, like LangChain's."""

    def get_num_tokens_from_messages(self, messages: list[AnyMessage]) -> int:
        """Return the number of tokens of *messages*."""
        ...


MessageCounter: TypeAlias = ListCounter | Callable[[AnyMessage], int] | TokenCounter | CountingModel
"""
A token counter: a function of a list of messages, of one message, of a text, or a model.

A function of one message is recognised by its parameter's annotation (``BaseMessage``,
``AnyMessage``), a function of a text by ``str``; any other function gets lists.
"""


def list_counter(counter: MessageCounter | str) -> ListCounter:
    """
    Return *counter* as a function of a list of messages.

    ``"approximate"`` is `count_tokens_approximately`.

    Raises:
        UsageError: It is another text, or not a counter.
    """
    if isinstance(counter, str):
        if counter == "approximate":
            return count_tokens_approximately
        msg = f"Invalid token_counter shortcut '{counter}'. Available shortcuts: 'approximate'."
        raise UsageError(msg)
    if isinstance(counter, CountingModel):
        return counter.get_num_tokens_from_messages
    if not callable(counter):
        raise UsageError(
            "'token_counter' expected to be a model that implements "
            "'get_num_tokens_from_messages()' or a function. Received object of type "
            f"{type(counter)}."
        )
    # The annotation of its parameter decides what it counts: a message, a text, or all messages.
    counted = _counted(counter)
    counting: Callable[..., Any] = counter
    if counted in {"BaseMessage", "AnyMessage"}:
        return lambda messages: sum(counting(each) for each in messages)
    if counted == "str":
        return lambda messages: estimated(messages, counting)
    return counting


def _counted(counter: Callable[..., object]) -> str:
    """Return the name of the annotation of the first parameter of *counter*."""
    try:
        parameters = inspect.signature(counter).parameters.values()
    except ValueError:  # a function written in C may have no signature
        return ""
    annotation = next((each.annotation for each in parameters), None)
    name = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    return name.strip("'\"").rpartition(".")[2]


def rough_tokens(text: str) -> int:
    """
    Return the estimated tokens of *text*: one per CJK character, one per four others.

    >>> rough_tokens("今天 is a good day")
    6
    """
    wide = len(_WIDE.findall(text))
    return wide + math.ceil((len(text) - wide) / 4)


def estimated(
    messages: Iterable[MessageLike],
    count: TokenCounter,
    *,
    extra_tokens_per_message: int = 3,
    tokens_per_image: int = TOKENS_PER_IMAGE,
) -> int:
    """
    Return the estimated tokens of *messages*, by a counter of texts.

    Counted are a message's text, its tool calls and other blocks as JSON (an image counts
    *tokens_per_image*), its name, and *extra_tokens_per_message* for the provider's framing.
    """
    total = 0
    for message in coerced_all(messages):
        blocks = [] if isinstance(message.content, str) else message.content
        others = [each for each in blocks if not isinstance(each, str) and not _is_text(each)]
        images = sum(_is_image(each) for each in others)
        written = [*_unnamed(message), *(each for each in others if not _is_image(each))]
        texts = [text_of(message), message.name or "", *map(_json, written)]
        total += sum(count(text) for text in texts if text)
        total += tokens_per_image * images + extra_tokens_per_message
    return total


def _unnamed(message: AnyMessage) -> Iterable[JsonObject]:
    """Yield the tool calls of *message* that no content block repeats."""
    blocks = () if isinstance(message.content, str) else message.content
    named = {
        block.get(name) for block in blocks if not isinstance(block, str) for name in _CALL_IDS
    }
    return (call for call in tool_calls_of(message) if call.get("id") not in named)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def count_tokens_approximately(
    messages: Iterable[MessageLike],
    *,
    chars_per_token: float = 4.0,
    extra_tokens_per_message: float = EXTRA_TOKENS_PER_MESSAGE,
    count_name: bool = True,
    tokens_per_image: int = TOKENS_PER_IMAGE,
    use_usage_metadata_scaling: bool = False,
    tools: Sequence[object] | None = None,
) -> int:
    """
    Return the approximate tokens of *messages*: one per *chars_per_token* characters.

    Counted are the content, the tool calls of AI messages with plain text, the id of the call that
    a tool message answers, the role and the name; each message is rounded up. The estimate suits
    English: in Chinese a character is about one token (use ``chars_per_token=1``, or `estimated`
    with a better counter).

    Args:
        use_usage_metadata_scaling: Scale by the tokens that the last AI message reports, by up to a
            quarter, if all AI messages are of one provider.
        tools: Tools that are sent along: schemas, LangChain's tools, or ours.

    Raises:
        UsageError: One of *messages* is a `RemoveMessage`, or one of *tools* is not a tool.
    """
    given = coerced_all(messages)
    costs = [_characters(each, count_name=count_name) / chars_per_token for each in given]
    total = float(math.ceil(sum(map(_tool_characters, tools or ())) / chars_per_token))
    sums = []
    for message, cost in zip(given, costs, strict=True):
        images = 0 if isinstance(message.content, str) else sum(map(_is_image, message.content))
        # Add in langchain-core's order: float sums depend on the order.
        total += images * tokens_per_image
        total += math.ceil(cost)
        total += extra_tokens_per_message
        sums.append(total)
    if use_usage_metadata_scaling and len(given) > 1:
        total *= _scale(given, sums)
    return math.ceil(total)


def _scale(messages: Sequence[AnyMessage], sums: Sequence[float]) -> float:
    """Return the ratio of the last AI message's reported usage to the estimate up to it."""
    answers = [(each, sums[place]) for place, each in enumerate(messages) if kind_of(each) == "ai"]
    providers = [mapping_of(each, "response_metadata").get("model_provider") for each, _ in answers]
    named = next((each for each in providers if each is not None), None)
    first = providers.index(named) if named is not None else 0
    if named is None or any(each != named for each in providers[first:]):
        return 1.0
    reported = [
        (used, upto)
        for each, upto in answers
        if isinstance(used := mapping_of(each, "usage_metadata").get("total_tokens"), int)
    ]
    if not reported or not reported[-1][1] > 0:
        return 1.0
    used, upto = reported[-1]
    return min(_SCALE_MAX, max(1.0, used / upto))


def _characters(message: AnyMessage, *, count_name: bool) -> int:
    content = message.content
    is_plain = isinstance(content, str)
    count = len(content) if is_plain else sum(map(_block_characters, content))
    # Content blocks repeat the calls, so count these only for plain text.
    if is_plain and (calls := tool_calls_of(message)):
        count += len(repr(calls))
    count += len(tool_call_id_of(message) or "") + len(_role(message))
    return count + (len(message.name) if message.name and count_name else 0)


def _block_characters(block: Block) -> int:
    if isinstance(block, str):
        return len(block)
    if _is_image(block):
        return 0
    if _is_text(block):
        words = block.get("text", "")
        return len(words) if isinstance(words, str) else 0
    return len(repr(block))


def _is_text(block: JsonObject) -> bool:
    return block.get("type") == "text"


def _is_image(block: Block) -> bool:
    return not isinstance(block, str) and block.get("type") in _IMAGES


def _role(message: AnyMessage) -> str:
    """Return the role of *message* in OpenAI's format, whose length is counted."""
    kind = kind_of(message)
    role = _ROLES.get(kind)
    if kind == "system":
        role = str(mapping_of(message, "additional_kwargs").get("__openai_role__", kind))
    elif kind == "chat":
        role = getattr(message, "role", None)
    if not isinstance(role, str):
        msg = f"Unknown message type {type(message)}: it has no role that could be counted"
        raise UsageError(msg)
    return role


def _tool_characters(tool: object) -> int:
    if isinstance(tool, Mapping):
        return len(json.dumps(tool))
    if isinstance(tool, Tool):
        parameters: object = tool.parameters
    elif (schema := getattr(tool, "tool_call_schema", None)) is not None:
        whole = schema if isinstance(schema, Mapping) else schema.model_json_schema()
        # Name and description are counted below.
        parameters = {
            name: each for name, each in whole.items() if name not in {"title", "description"}
        }
    else:
        msg = f"{tool!r} is no tool: give its schema as a dict, a tool of LangChain's, or ours"
        raise UsageError(msg)
    named = {
        "name": getattr(tool, "name", ""),
        "description": getattr(tool, "description", ""),
        "parameters": parameters,
    }
    return len(json.dumps(named))
