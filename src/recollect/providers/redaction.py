"""Redact keys in messages and logs."""

import os
import re
from collections.abc import Iterable, Iterator
from typing import Final

SECRET_CHARACTERS_MIN: Final = 6
"""A shorter value is not redacted: it would occur in ordinary words."""
HIDDEN: Final = "***"

_SECRET_NAME: Final = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)(?:_\w+)?$")
_LIKE_A_KEY: Final = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|AIza|AKIA)[-_]?(?:[\w*-]){16,}"
    r"|(?<=Bearer )[^\s'\"]+|(?<=Basic )[^\s'\"]+|(?<=://)[^\s/@'\"]+(?=@)"
)


def redacted(text: str, secrets: Iterable[str] = ()) -> str:
    """
    Return *text* with *secrets*, the environment's keys and anything like a key redacted.

    >>> redacted("no such key: mango-7731; sent Bearer abc", ["mango-7731"])
    'no such key: ***; sent Bearer ***'
    """
    for secret in _known(secrets):
        text = text.replace(secret, HIDDEN)
    return _LIKE_A_KEY.sub(HIDDEN, text)


def reveals_secret(text: str, secrets: Iterable[str] = ()) -> bool:
    """Return True if *text* contains one of *secrets* or of the environment's keys."""
    return any(secret in text for secret in _known(secrets))


def secrets_of(client: object) -> frozenset[str]:
    """Return the values of a client's attributes that pydantic marks as secret."""
    found = set()
    for value in getattr(client, "__dict__", {}).values():
        reveal = getattr(value, "get_secret_value", None)
        secret = reveal() if callable(reveal) else None
        if isinstance(secret, str):
            found.add(secret)
    return frozenset(found)


def _known(secrets: Iterable[str]) -> list[str]:
    """Return each secret plain, stripped and escaped, longest first."""
    plain = {*secrets, *_environment()}
    quoted = {form for secret in plain for form in (secret, secret.strip(), repr(secret)[1:-1])}
    return sorted(
        (form for form in quoted if len(form) >= SECRET_CHARACTERS_MIN), key=len, reverse=True
    )


def _environment() -> Iterator[str]:
    return (value for name, value in os.environ.items() if _SECRET_NAME.search(name.upper()))
