"""What the reference shows of a docstring: its examples as code, and not as quotations."""

from __future__ import annotations

import re
from typing import Any, Final

from griffe import Extension

PROMPT: Final = re.compile(r"^(?P<indent> *)>>> ")


def with_fences(text: str) -> str:
    """
    Return a docstring with a fence around each example: from its first prompt to a blank line.

    >>> with_fences("Add.|>>> 1 + 1|2||More.".replace("|", chr(10))).splitlines()
    ['Add.', '```pycon', '>>> 1 + 1', '2', '```', '', 'More.']
    """
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        opens = PROMPT.match(line)
        if opens and not fence:
            fence = f"{opens['indent']}```"
            lines.append(f"{fence}pycon")
        elif fence and not line.strip():
            lines.append(fence)
            fence = ""
        lines.append(line)
    return "\n".join([*lines, fence] if fence else lines)


class ExampleFences(Extension):
    """Puts the fences in, before anything reads the docstring."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = with_fences(obj.docstring.value)
