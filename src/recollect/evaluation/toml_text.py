"""Writing values as TOML, which the standard library only reads."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from recollect.errors import UsageError
from recollect.formation.pointers import is_list

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
# JSON leaves them as they are; TOML wants them escaped.
_DELETE: Final = "\x7f"


def toml_value(value: object) -> str:
    r"""
    Return *value* as it stands after ``=``, on one line.

    >>> toml_value({"a b": [1, True, "x\n"]})
    '{ "a b" = [1, true, "x\\n"] }'

    Raises:
        UsageError: TOML has no such value: it knows no null.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace(_DELETE, "\\u007F")
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return repr(value)
    if isinstance(value, Mapping):
        inner = ", ".join(toml_line(str(name), each) for name, each in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if is_list(value):
        return f"[{', '.join(toml_value(each) for each in value)}]"
    msg = f"{value!r} cannot be written as TOML: leave the field out"
    raise UsageError(msg)


def toml_line(name: str, value: object) -> str:
    """
    Return the line that gives *name* a *value*.

    >>> toml_line("at", "noon"), toml_line("für", 2)
    ('at = "noon"', '"für" = 2')
    """
    key = name if _BARE.fullmatch(name) else toml_value(name)
    return f"{key} = {toml_value(value)}"
