"""No text takes longer than its length: every pattern and every step of recall is linear."""

import ast
import importlib
import inspect
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from types import ModuleType
from typing import Any

import pytest

from recollect import recall
from recollect.recall.duplicates import SaidAlready
from recollect.recall.query_analysis import _pattern, names_in, read_question, without_names
from recollect.recall.recall_packing import packed
from recollect.recall.rendering import Record, render_block
from recollect.recall.results import Recalled
from recollect.records import Evidence, Memory, Message
from recollect.testing import NOON
from recollect.text import analysis, time_expressions
from recollect.text.analysis import terms_of
from recollect.text.terms import encode_terms
from recollect.text.time_expressions import asks_when, days_meant, has_time_expression
from recollect.text.token_estimate import estimated_tokens
from tests.harness.rendered_blocks import read_block
from tests.harness.sample_contents import sample_memory, sample_message

BYTES = 100_000
PATTERN_S_MAX = 0.15
STEP_S_MAX = 1.0
SHARE_S_MIN = 0.005
USES = ("search", "match", "fullmatch", "findall", "finditer", "split", "sub")

# Each is repeated until it is as long as wanted, before and after it what makes a pattern fail.
HOSTILE = {
    "newlines": ("", "\n", ""),
    "spaces": ("", " ", ""),
    "spaces before a word": ("", " ", "x"),
    "letters and a mark": ("", "a", "!"),
    "digits": ("", "1", ""),
    "digits and a mark": ("", "1", "!"),
    "months": ("", "\u6708", ""),
    "nested brackets": ("", "[", "]"),
    "brackets": ("", "[]", ""),
    "a digit and spaces": ("5", " ", "x"),
    "a month and spaces": ("may", " ", "x"),
    "a year and spaces": ("2019", " ", "\u5e74x"),
    "last and spaces": ("last", " ", "x"),
    "last a and spaces": ("last a", " ", "x"),
    "underscores": ("a", "_", "!"),
    "parts of an identifier": ("", "a_", "!"),
    "marks on a letter": ("a", "\u0301", "!"),
    "vowel signs": ("", "\u0915\u093f", "!"),
    "apostrophes": ("", "'", "s"),
}

Use = Callable[[str], object]


def text_of(hostile: str, length: int) -> str:
    """Return a hostile text of about this length."""
    before, repeated, after = HOSTILE[hostile]
    return before + repeated * (length // len(repeated)) + after


def takes_longer(use: Use, text: str, seconds_max: float) -> float | None:
    """Return the time that *use* takes of this thread's processor, if it is too long each time."""
    took = 0.0
    for _ in range(3):
        start = time.thread_time()
        use(text)
        took = time.thread_time() - start
        if took <= seconds_max:
            return None
    return took


def slow_at(use: Use, seconds_max: float) -> list[str]:
    """Say which hostile texts of up to 100 kB take *use* longer than it may."""
    found = []
    for hostile in HOSTILE:
        # From short to long: what is quadratic is found out long before it takes for ever. A
        # shorter text has its share of the time, four times over, since short times vary.
        for length in (BYTES // 64, BYTES // 16, BYTES):
            share = max(seconds_max * min(4 * length / BYTES, 1), SHARE_S_MIN)
            took = takes_longer(use, text_of(hostile, length), share)
            if took is not None:
                found.append(f"{hostile}: {took * 1_000:.0f} ms at {length} characters")
                break
    return found


@dataclass(frozen=True)
class Found:
    """A pattern, where it stands, and how it is used there."""

    place: str
    pattern: re.Pattern[str]
    uses: frozenset[str]

    def apply(self, text: str) -> None:
        """Use the pattern on *text* in each way in which its module uses it."""
        for use in self.uses:
            if use == "sub":
                self.pattern.sub("", text)
            elif use == "finditer":
                for _ in self.pattern.finditer(text):
                    pass
            else:
                getattr(self.pattern, use)(text)


def modules() -> Iterator[ModuleType]:
    """Yield every module of recall, and what of the text analysis reads queries."""
    for each in pkgutil.iter_modules(recall.__path__):
        yield importlib.import_module(f"{recall.__name__}.{each.name}")
    yield from (analysis, time_expressions)


def value_of(node: ast.expr, module: ModuleType) -> str | None:
    """Return the text that an expression stands for, if constants of the module make it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.FormattedValue):
        return value_of(node.value, module)
    if isinstance(node, ast.Name):
        named = getattr(module, node.id, None)
        return named if isinstance(named, str) else None
    if isinstance(node, ast.JoinedStr):
        parts = [value_of(part, module) for part in node.values]
        return None if None in parts else "".join(part for part in parts if part)
    return None


def patterns_of(module: ModuleType) -> tuple[list[Found], list[str]]:
    """Return the patterns of a module, and the places of those that are made when it runs."""
    tree = ast.parse(inspect.getsource(module))
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and ast.unparse(node.func.value) == "re"
        and node.func.attr in (*USES, "compile")
    ]
    found, unknown = [], []
    for call in calls:
        place = f"{module.__name__}:{call.lineno}"
        pattern = value_of(call.args[0], module)
        if pattern is None:
            unknown.append(place)
            continue
        flags = re.IGNORECASE if "IGNORECASE" in ast.unparse(call) else re.NOFLAG
        use = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        uses = uses_of(tree, call) if use == "compile" else frozenset({use})
        found.append(Found(place, re.compile(pattern, flags), uses))
    return found, unknown


def uses_of(tree: ast.Module, call: ast.Call) -> frozenset[str]:
    """Return the methods that are called on the name to which a pattern is given."""
    names = {
        ast.unparse(target)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is call
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    }
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in USES
        and ast.unparse(node.value) in names
    }
    return frozenset(used or {"search", "finditer"})


EVERY = [patterns_of(module) for module in modules()]
PATTERNS = [found for patterns, _ in EVERY for found in patterns]
MADE_LATER = [place for _, unknown in EVERY for place in unknown]
# The pattern of a participant's name is the only one that is not written down.
NAMED = [
    Found("a name", _pattern(name), frozenset({"search", "sub"}))
    for name in ("Ada", "Ada Lovelace", "a", "\u5c0f\u660e", "J.R. (work) ***", " ")
]


def test_every_pattern_is_looked_at() -> None:
    """None hides where the check does not see it."""
    assert {found.place.partition(":")[0].rpartition(".")[2] for found in PATTERNS} >= {
        "analysis",
        "context_text",
        "query_analysis",
        "rendering",
        "time_expressions",
    }
    assert {"recollect.recall.query_analysis"} == {place.partition(":")[0] for place in MADE_LATER}
    assert len(MADE_LATER) == 1


@pytest.mark.parametrize("found", [*PATTERNS, *NAMED], ids=lambda found: found.place)
def test_no_pattern_takes_longer_than_its_text(found: Found) -> None:
    """On 100 kB of what makes patterns slow, each takes at most 50 ms as it is used."""
    assert slow_at(found.apply, PATTERN_S_MAX) == []


def lines_with_hash(text: str) -> object:
    """Look for a comment at the end of a line, as is often done."""
    return re.compile(r"\s*#.*$", re.MULTILINE).search(text)


def blank_ends(text: str) -> object:
    """Take the spaces off the ends of lines, as is often done."""
    return re.compile(r"\s+$").sub("", text)


@pytest.mark.parametrize("mutant", [lines_with_hash, blank_ends])
def test_a_quadratic_pattern_is_caught(mutant: Use) -> None:
    """Well-known slow patterns are reported, and for which texts."""
    found = slow_at(mutant, PATTERN_S_MAX)

    assert any(each.startswith("spaces before a word") for each in found)


def pack_twice(text: str) -> object:
    """Pack a text beside itself, so that it is looked for in what was said and remembered."""
    texts = [text, text, f"{text} x"]
    entries = [
        Recalled(scope=("ada",), content=content, score=1, signals={})
        for content in (_message(text), _memory(text), _memory(f"{text} x"))
    ]
    said = SaidAlready(entries, is_tight=True)
    return packed(texts, limit=9, budget_tokens=10**9, count=estimated_tokens, said=said)


def _message(text: str) -> Message:
    return sample_message(text=text)


def _memory(text: str) -> Memory:
    return sample_memory(
        scope=("ada",),
        key="n",
        value={"content": text},
        text=text,
        evidence={"": [Evidence(thread="talk", message="m1")]},
    )


def render_and_read(text: str) -> object:
    """Render a text in every field, and read it back."""
    return read_block(render_block([Record(source=text, date=text, who=text, text=text)]))


STEPS: list[Callable[[Any], object]] = [
    terms_of,
    has_time_expression,
    asks_when,
    estimated_tokens,
    pack_twice,
    render_and_read,
    lambda text: encode_terms(text, NOON),
    lambda text: days_meant(text, date(2024, 5, 6), [2023, 2024]),
    lambda text: read_question(text, date(2024, 5, 6)),
    lambda text: names_in(text, ["Ada Lovelace", "Bob"]),
    lambda text: without_names(text, ["Ada Lovelace", "Bob"]),
]


@pytest.mark.parametrize("step", STEPS, ids=range(len(STEPS)))
def test_no_step_takes_longer_than_its_text(step: Use) -> None:
    """Whole steps, with all that they do besides matching, take at most a second."""
    assert slow_at(step, STEP_S_MAX) == []
