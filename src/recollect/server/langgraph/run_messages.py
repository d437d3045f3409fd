"""The messages of a run's input, and which of them its thread does not have yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from recollect.errors import UsageError
from recollect.lifecycle.erased_records import Erasures
from recollect.memory.facade import Recollect
from recollect.messages import OWN_CLASSES, coerced
from recollect.messages.message_fields import kind_of
from recollect.messages.message_records import record_of
from recollect.records import Message, NewMessage, Scope
from recollect.stores.plans.erase_targets import EraseMessages

MESSAGES_MAX: Final = 1_000
_OVERLAP_MIN: Final = 2
_REMOVAL: Final = "remove"


def messages_of(given: Mapping[str, object] | Sequence[object] | None) -> list[NewMessage]:
    """
    Return the messages of a run's input: a list, or an object with the list as ``messages``.

    Raises:
        UsageError: There is no such list, or an element is not a message.
    """
    listed = given.get("messages", ()) if isinstance(given, Mapping) else given or ()
    if isinstance(listed, str | Mapping):
        listed = [listed]
    if not isinstance(listed, Sequence):
        raise UsageError(f"input.messages is a list of messages, not {type(listed).__name__}")
    if len(listed) > MESSAGES_MAX:
        msg = f"input.messages has {len(listed)} messages; a run takes {MESSAGES_MAX} at most"
        raise UsageError(msg)
    try:
        found = [coerced(each, classes=OWN_CLASSES) for each in listed]
        return [record_of(each) for each in found if kind_of(each) != _REMOVAL]
    except (AttributeError, TypeError, ValueError) as error:
        if isinstance(error, UsageError):
            raise
        raise UsageError(f"a message of the input cannot be read: {error}") from None


async def unknown_messages(
    memory: Recollect, scope: Scope, thread: str, given: Sequence[NewMessage]
) -> list[NewMessage]:
    """
    Return the messages that a thread does not have yet, without those that were erased there.

    Clients send the whole conversation with every run, also what was erased of it since.
    """
    before = await memory.thread(scope, thread)
    if before is None or not given:
        return list(given)
    limit = min(len(given), MESSAGES_MAX)
    last = await memory.last_messages(scope, thread, limit=limit) if before.count else ()
    new = new_messages(given, last, before.count, before.last)
    if before.count == before.last or not any(each.id for each in new):
        return new
    erasures = Erasures(await memory.store.ledger())
    return [
        each
        for each in new
        if not erasures.at(scope, EraseMessages(thread=thread, messages=[each.id or ""]))
    ]


def new_messages(
    given: Sequence[NewMessage], last: Sequence[Message], held: int, ever: int
) -> list[NewMessage]:
    """
    Return the messages that a thread of *held* messages, ending with *last*, does not have yet.

    Clients send the whole conversation with every run, or only the new messages. The store
    recognises a message with an id. Without ids, messages are known if the input begins as the
    thread ends: by at least two equal messages, or by all that the thread has. Where it had *ever*
    more, the input is the whole conversation if it has at least two of those that are left, and all
    of them, in their places.

    >>> def said(*texts): return [NewMessage(role="user", text=text) for text in texts]
    >>> [each.text for each in new_messages(said("a", "b"), [], 0, 0)]
    ['a', 'b']
    """
    if any(each.id for each in given):
        return list(given)
    may_be_whole = _OVERLAP_MIN <= held == len(last) and held < ever <= len(given)
    if may_be_whole and all(_is_alike(given[each.position - 1], each) for each in last):
        return list(given[ever:])
    for count in range(min(len(given), len(last)), 0, -1):
        if count < _OVERLAP_MIN and count < held:
            break
        ends = last[len(last) - count :]
        if all(_is_alike(one, other) for one, other in zip(given, ends, strict=False)):
            return list(given[count:])
    return list(given)


def _is_alike(given: NewMessage, kept: Message) -> bool:
    return (given.role, given.name, given.text) == (kept.role, kept.name, kept.text)
