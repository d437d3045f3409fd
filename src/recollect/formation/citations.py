"""
Citations as a model writes them: ``3 /home: we moved to Oslo``, or the same as an object.

The line costs few tokens, in the prompt and in the answer; clients and models that do not use it
write the object.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from recollect.formation.operations import Citation, WrongCallError
from recollect.records import Json
from recollect.stores.json_pointers import is_list

CITATIONS_MAX: Final = 50
CITED_FORM: Final = "3 /home: we moved to Oslo"
"""The form of a citation: number of the message, field (none for all), exact words."""

_WRITTEN: Final = re.compile(
    r"\s*#?(?P<message>\d{1,9})\s*"
    # A field, or the speaker's name, which the prompt shows at that place as well.
    r"(?:(?P<path>/.*?)(?::\s|\uff1a)|[^/:\uff1a\n][^:\uff1a\n]{0,79}?[:\uff1a]|[:\uff1a])"
    r"\s*(?P<quote>.*)",
    re.DOTALL,
)

_BARE: Final = re.compile(r"\s*#?(?P<message>\d{1,9})(?:\s+(?P<path>/[^\s:\uff1a]*))?\s*")
"""A message without words, which is cited as a whole if it is short: ``3 /user_name``."""


def cited_words(message: int, quote: str, path: str = "") -> str:
    """
    Return a citation as a model is asked to write it.

    >>> cited_words(3, "we moved to Oslo", "/home")
    '3 /home: we moved to Oslo'
    """
    return f"{message} {path}: {quote}" if path else f"{message}: {quote}"


def read_because(because: Json, where: str = "because") -> tuple[Citation, ...]:
    """
    Return the citations of one call or change: one, or a list of them.

    Raises:
        WrongCallError: There is none, there are too many, or one cannot be read.
    """
    if not is_list(because):
        return (read_citation(because, where),)
    if not because:
        raise WrongCallError("call", f"'{where}' must cite at least one message")
    if len(because) > CITATIONS_MAX:
        raise WrongCallError("call", f"{len(because)} citations; at most {CITATIONS_MAX}")
    return tuple(read_citation(each, f"{where}[{at}]") for at, each in enumerate(because))


def read_citation(citation: Json, where: str) -> Citation:
    """
    Parse one citation.

    Raises:
        WrongCallError: The citation is malformed; the message describes the fault at *where*.
    """
    if isinstance(citation, str):
        return _from_words(citation, where)
    if not isinstance(citation, Mapping):
        reason = f"{where} must be text such as {CITED_FORM!r}: message, field, exact words"
        raise WrongCallError("call", reason)
    check_fields(citation, {"message", "quote", "path"}, {"message", "quote"}, where)
    message, quote, path = (citation.get(name, "") for name in ("message", "quote", "path"))
    if not isinstance(message, int) or isinstance(message, bool):
        raise WrongCallError("call", f"{where}.message must be the number of a message")
    if not isinstance(quote, str) or not quote.strip():
        raise WrongCallError("call", f"{where}.quote must hold words of the message")
    if not isinstance(path, str) or (path and not path.startswith("/")):
        raise WrongCallError("call", f"{where}.path must be a JSON pointer such as /home")
    return Citation(message=message, quote=quote, path=path)


def _from_words(written: str, where: str) -> Citation:
    if bare := _BARE.fullmatch(written):
        return Citation(message=int(bare["message"]), quote="", path=bare["path"] or "")
    found = _WRITTEN.fullmatch(written)
    if found is None:
        reason = f"{where} must begin with the number of a message, as in {CITED_FORM!r}"
        raise WrongCallError("call", reason)
    if not found["quote"].strip():
        raise WrongCallError("call", f"{where} must hold words of the message behind the colon")
    return Citation(
        message=int(found["message"]), quote=found["quote"], path=(found["path"] or "").strip()
    )


def check_fields(
    given: Mapping[str, Json], allowed: set[str], needed: set[str], where: str = "the arguments"
) -> None:
    """
    Reject an object that lacks a field or has one too many.

    Raises:
        WrongCallError: It does; the error names the fields.
    """
    missing = sorted(needed - given.keys())
    unknown = sorted(given.keys() - allowed)
    if missing:
        raise WrongCallError("call", f"{where} must have {', '.join(missing)}")
    if unknown:
        names = ", ".join(each[:40] for each in unknown[:5])
        raise WrongCallError("call", f"{where} must not have {names}")
