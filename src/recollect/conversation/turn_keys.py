"""Find the keys of the user's and the model's text among a chain's inputs and outputs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Final

from recollect.errors import MissingKeyError, UsageError

STOP: Final = "stop"
"""The input with the model's stop words, which is never the user's text."""
OUTPUT: Final = "output"
"""The default output key if a chain has several outputs."""


def input_key_of(inputs: Mapping[str, object], memory_variables: Sequence[str]) -> str:
    """
    Return the one key of *inputs* that is neither a memory's variable nor ``stop``.

    Raises:
        UsageError: There is none, or more than one.
    """
    keys = [key for key in inputs if key not in {*memory_variables, STOP}]
    if len(keys) != 1:
        msg = f"One input key expected got {keys}: name the user's message by 'input_key'"
        raise UsageError(msg)
    return keys[0]


def output_key_of(outputs: Mapping[str, object]) -> str:
    """
    Return the only key of *outputs*, or ``output`` (with a warning) among several.

    Raises:
        UsageError: There is none, or several without ``output``.
    """
    if len(outputs) == 1:
        return next(iter(outputs))
    if OUTPUT in outputs:
        msg = f"of several outputs ({', '.join(outputs)}) '{OUTPUT}' is saved: set 'output_key'"
        warnings.warn(msg, stacklevel=2)
        return OUTPUT
    raise UsageError(
        f"Got multiple output keys: {outputs.keys()}, cannot determine which to store in memory. "
        "Please set the 'output_key' explicitly."
        if outputs
        else "Got no output key: an empty mapping has nothing to store in memory."
    )


def check_key(values: Mapping[str, object], key: str, side: str) -> None:
    """
    Check that *values* has *key*.

    Raises:
        MissingKeyError: The key is missing.
    """
    if key not in values:
        msg = f"the {side}s have no key {key!r}; they have: {', '.join(values) or 'none'}"
        raise MissingKeyError(msg)


def text_at(values: Mapping[str, object], key: str, side: str) -> str:
    """
    Return the text of *values* at *key*.

    Raises:
        MissingKeyError: There is no such key.
        UsageError: The value is not text.
    """
    check_key(values, key, side)
    value = values[key]
    if not isinstance(value, str):
        raise UsageError(
            f"the {side} {key!r} is {type(value).__name__}, not text: nothing was saved; name a "
            f"key with text by '{side}_key'"
        )
    return value
