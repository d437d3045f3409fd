"""The page translates reasons by their text: each of these texts is one that the program gives."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
LIB: Final = ROOT / "web" / "src" / "lib"
REASONS: Final = ("causes.ts", "refusals.ts")
# A group of a pattern, a quotation mark of Python's, or one that repeats it.
_GROUP: Final = re.compile(r"""\(\?<\w+>[^)]*\)|\(\['"\]\)|\\\d""")


def told_by_the_program() -> str:
    """Return the source of the package, with texts of several lines joined."""
    sources = (each.read_text("utf-8") for each in (ROOT / "src" / "recollect").rglob("*.py"))
    return "\n".join(sources)


def translated() -> list[str]:
    """Return the texts that the page knows, and the fixed parts of those that name something."""
    source = "\n".join(LIB.joinpath(each).read_text("utf-8") for each in REASONS)
    named = re.findall(r'(?:"([^"]+)"|\b(\w+)): "(?:cause|doubt)\.', source)
    found = [text or word for text, word in named]
    for pattern in re.findall(r'\[/\^(.+)\$/s?, "(?:cause|doubt|refusal)\.', source):
        found += [each.strip(" ,:;\\()") for each in _GROUP.split(pattern)]
    parts = [part.removeprefix("merged: ") for each in found for part in each.split(", beyond ")]
    return [each for each in parts if each not in {"", "/", "/.*"}]


def test_each_reason_that_the_page_translates_is_given_by_the_program() -> None:
    """A reason that is reworded there would stay in English on a Chinese page."""
    given = told_by_the_program()
    texts = translated()

    assert len(texts) > 48
    assert [] == [each for each in texts if each not in given]
