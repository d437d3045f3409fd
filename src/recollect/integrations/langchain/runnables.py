"""Functions over lists of messages as steps of a LangChain chain."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableLambda


def runnable_of(
    function: Callable[..., Any], **options: Any
) -> Runnable[list[BaseMessage], list[BaseMessage]]:
    """
    Return *function* of `recollect.messages`, with its *options*, as a step of a chain.

    >>> from recollect.messages import filter_messages
    >>> step = runnable_of(filter_messages, include_types=["human"])
    >>> step.invoke([])
    []
    """
    return RunnableLambda(partial(function, **options), name=function.__name__)
