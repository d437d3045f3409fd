"""The formats of texts that are checked, all of them without a network and without a clock."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from datetime import date
from typing import Final
from uuid import UUID

from recollect.formation.pointers import parse_pointer
from recollect.formation.types.patterns import Pattern

_FORMAT_CHARACTERS_MAX: Final = 4_096

_TIME: Final = r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)"
_DATE_TIME: Final = re.compile(rf"(\d{{4}}-\d\d-\d\d)[Tt ]{_TIME}", re.ASCII | re.IGNORECASE)
_TIME_ALONE: Final = re.compile(_TIME, re.ASCII | re.IGNORECASE)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_DURATION: Final = re.compile(
    r"P(?=.)(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?)", re.ASCII
)
_EMAIL: Final = re.compile(r"[^\s@\"(),:;<>\[\]\\]{1,64}@([^\s@]+)")
_LABEL: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?", re.ASCII)
_URI: Final = re.compile(
    r"([A-Za-z][A-Za-z0-9+.-]*:)?(?:%[0-9A-Fa-f]{2}|[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-])*", re.ASCII
)
_UUID: Final = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", re.ASCII)


def _is_date(text: str) -> bool:
    return bool(_DATE.fullmatch(text)) and bool(date.fromisoformat(text))


def _is_date_time(text: str) -> bool:
    found = _DATE_TIME.fullmatch(text)
    return found is not None and _is_date(found[1])


def _is_host_name(text: str) -> bool:
    return len(text) <= 253 and all(_LABEL.fullmatch(label) for label in text.split("."))


def _is_email(text: str) -> bool:
    found = _EMAIL.fullmatch(text)
    if found is None or text.startswith(".") or ".@" in text or ".." in text:
        return False
    return _is_host_name(found[1].encode("idna").decode("ascii"))


def _is_uri(text: str) -> bool:
    found = _URI.fullmatch(text)
    return found is not None and found[1] is not None and text.count("#") <= 1


def _is_uri_reference(text: str) -> bool:
    return _URI.fullmatch(text) is not None and text.count("#") <= 1


def _is_uuid(text: str) -> bool:
    return bool(_UUID.fullmatch(text)) and bool(UUID(text))


def _is_pointer(text: str) -> bool:
    return parse_pointer(text) is not None


_CHECKS: Final[dict[str, tuple[Callable[[str], object], str]]] = {
    "date": (_is_date, "a date such as 2024-05-07"),
    "date-time": (_is_date_time, "a date and time with a zone such as 2024-05-07T18:30:00Z"),
    "time": (_TIME_ALONE.fullmatch, "a time with a zone such as 18:30:00Z"),
    "duration": (_DURATION.fullmatch, "a duration such as P3D or PT1H30M"),
    "email": (_is_email, "an e-mail address such as ada@example.org"),
    "hostname": (_is_host_name, "a host name such as www.example.org"),
    "ipv4": (ipaddress.IPv4Address, "an IPv4 address such as 192.0.2.1"),
    "ipv6": (ipaddress.IPv6Address, "an IPv6 address such as 2001:db8::1"),
    "uri": (_is_uri, "an address such as https://example.org/a"),
    "uri-reference": (_is_uri_reference, "an address, whole or relative, such as /a?b=c"),
    "uuid": (_is_uuid, "a UUID such as 123e4567-e89b-12d3-a456-426614174000"),
    "json-pointer": (_is_pointer, "a JSON pointer such as /home"),
    "regex": (Pattern, "a regular expression"),
}

FORMATS: Final = tuple(_CHECKS)
"""The formats that are enforced; any other is told to the model and not checked."""


def unlike(text: str, format_: str) -> str | None:
    """
    Say what *text* should be if it does not have *format_*; ``None`` if it does.

    >>> unlike("2024-02-30", "date")
    'a date such as 2024-05-07'
    """
    if format_ not in _CHECKS:
        return None
    check, wanted = _CHECKS[format_]
    if len(text) > _FORMAT_CHARACTERS_MAX:
        return wanted
    try:
        found = check(text)
    except ValueError:  # a UsageError is one
        return wanted
    return wanted if found is None or found is False else None
