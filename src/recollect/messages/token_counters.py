"""Count the tokens of messages, by an estimate or a given counter."""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Protocol, TypeAlias, cast, runtime_checkable

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
# How far the tokens that a provider reported may raise the estimate.
_SCALE_MAX: Final = 1.25
_IMAGES: Final = frozenset({"image", "image_url"})
_ROLES: Final = {"ai": "assistant", "human": "user", "tool": "tool", "function": "function"}

# What blocks of providers that repeat a call call its id.
_CALL_IDS: Final = ("id", "call_id", "tool_use_id")

_WIDE: Final = re.compile(
    r"[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)

ListCounter: TypeAlias = Callable[[list[AnyMessage]], int]


@runtime_checkable
class CountingModel(Protocol):
    """A model that counts what messages cost it, as LangChain's do."""

    def get_num_tokens_from_messages(self, messages: list[AnyMessage]) -> int:
        """Return a count of at least 0."""
        ...


MessageCounter: TypeAlias = ListCounter | Callable[[AnyMessage], int] | TokenCounter | CountingModel
"""
A token counter: a function of a list of messages, of one message, of a text, or a model.

A function of one message says so by the annotation of its parameter (``BaseMessage``,
``AnyMessage``), a function of a text by ``str``; any other is given lists.
"""


def list_counter(counter: MessageCounter | str) -> ListCounter:
    """
    Return *counter*, whatever it counts, as a function of a list of messages.

    ``"approximate"`` is `count_tokens_approximately`.

    Raises:
        UsageError: It is another word, or nothing that counts.
    """
    if isinstance(counter, str):
        if counter == "approximate":
            return count_tokens_approximately
        msg = f"Invalid token_counter shortcut '{counter}'. Available shortcuts: 'approximate'."
        raise UsageError(msg)
    if isinstance(counter, CountingModel):
        return counter.get_num_tokens_from_messages
    if not callable(counter):
        msg = (
            "'token_counter' expected to be a model that implements "
            "'get_num_tokens_from_messages()' or a function. Received object of type "
            f"{type(counter)}."
        )
        raise UsageError(msg)
    counted = _counted(counter)
    if counted in {"BaseMessage", "AnyMessage"}:
        of_one = cast("Callable[[AnyMessage], int]", counter)
        return lambda messages: sum(of_one(each) for each in messages)
    if counted == "str":
        of_text = cast("TokenCounter", counter)
        return lambda messages: estimated(messages, of_text)
    return cast("ListCounter", counter)


def _counted(counter: Callable[..., object]) -> str:
    """Return the name of what the first parameter of *counter* is annotated with."""
    try:
        parameters = inspect.signature(counter).parameters.values()
    except ValueError:  # one written in C may not say
        return ""
    annotation = next((each.annotation for each in parameters), None)
    name = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    return name.strip("'\"").rpartition(".")[2]


def rough_tokens(text: str) -> int:
    """
    Return about how many tokens *text* costs: one a Chinese character, one for four others.

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

    A message costs its text, its tool calls and other blocks as JSON (images a fixed price), its
    name, and *extra_tokens_per_message* for the provider's framing.
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
    """Yield the tool calls of *message* that none of its blocks names."""
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
    Return about how many tokens *messages* cost: one for *chars_per_token* characters.

    Counted are the content, the tool calls of AI messages with plain text, the id of the call
    that a tool message answers, the role and the name; each message is rounded up. The estimate
    is meant for English: of Chinese, one character is about one token (``chars_per_token=1``, or
    `estimated` with a counter that knows).

    Args:
        use_usage_metadata_scaling: Scale by the tokens that the last AI message reports, up to a
            quarter more, if all AI messages name one provider.
        tools: Tools that are sent along: schemas, LangChain's tools, or ours.

    Raises:
        UsageError: One of *messages* is an order to remove, or one of *tools* is no tool.
    """
    given = coerced_all(messages)
    costs = [_characters(each, count_name=count_name) / chars_per_token for each in given]
    total = float(math.ceil(sum(map(_tool_characters, tools or ())) / chars_per_token))
    sums = []
    for message, cost in zip(given, costs, strict=True):
        images = 0 if isinstance(message.content, str) else sum(map(_is_image, message.content))
        # One by one: in another order, the sum of floats can be another.
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
    # Blocks name the calls already.
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
    """Return the role of *message* in OpenAI's interface, by which it is counted."""
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
        # Both stand beside it once more.
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
