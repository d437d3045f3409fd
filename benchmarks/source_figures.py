"""Figures of Python source: lines of code, lengths of functions, and escapes from the types."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_LAYOUT: Final = frozenset(
    {
        *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
        *(tokenize.ENDMARKER, tokenize.ENCODING),
    }
)
_HAS_WORD: Final = re.compile(r"\w")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFigures:
    """
    The figures of one file.

    Attributes:
        lines: All lines, blank ones and comments too.
        compared: The lines in which duplicates are sought: code without imports, docstrings and
            lines of brackets alone; without indentation and comments, each with its number.
        signature_lines: The numbers of the lines from a ``def`` to its colon.
        function_lengths: For each function, its lines of code from ``def`` on, the signature
            among them and the docstring not.
        any_count: How often the name ``Any`` is used, imports not counted.
        cast_count: Calls of ``cast``.
        ignore_count: Comments ``type: ignore``.
    """

    lines: int
    compared: list[tuple[int, str]]
    signature_lines: frozenset[int]
    function_lengths: list[int]
    any_count: int
    cast_count: int
    ignore_count: int


def measure_source(text: str) -> SourceFigures:
    """Return the figures of a file of Python."""
    tree = ast.parse(text)
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    code = _code_lines(tokens) - _lines_of(_docstrings(tree))
    imported = _lines_of(
        node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)
    )
    functions = [node for node in ast.walk(tree) if isinstance(node, _Function)]
    return SourceFigures(
        lines=text.count("\n"),
        compared=_compared_lines(text, tokens, code - imported),
        signature_lines=frozenset(
            line for node in functions for line in range(node.lineno, node.body[0].lineno)
        ),
        function_lengths=[
            len(code.intersection(range(node.lineno, (node.end_lineno or node.lineno) + 1)))
            for node in functions
        ],
        any_count=sum(
            (isinstance(node, ast.Name) and node.id == "Any")
            or (isinstance(node, ast.Attribute) and node.attr == "Any")
            for node in ast.walk(tree)
        ),
        cast_count=sum(
            isinstance(node, ast.Call) and _name_of(node.func) == "cast" for node in ast.walk(tree)
        ),
        ignore_count=sum(
            token.type == tokenize.COMMENT and "type: ignore" in token.string for token in tokens
        ),
    )


def _code_lines(tokens: list[tokenize.TokenInfo]) -> set[int]:
    return {
        line
        for token in tokens
        if token.type not in _LAYOUT
        for line in range(token.start[0], token.end[0] + 1)
    }


def _docstrings(tree: ast.AST) -> Iterator[ast.stmt]:
    """Yield the docstrings, including those of attributes."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield node


def _lines_of(nodes: Iterator[ast.stmt]) -> set[int]:
    return {
        line for node in nodes for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def _compared_lines(
    text: str, tokens: list[tokenize.TokenInfo], code: set[int]
) -> list[tuple[int, str]]:
    comments = {
        token.start[0]: token.start[1] for token in tokens if token.type == tokenize.COMMENT
    }
    # Not `splitlines`, which splits at a form feed inside a text.
    numbered = enumerate(text.split("\n"), 1)
    found = [(at, line[: comments.get(at)].strip()) for at, line in numbered if at in code]
    return [(at, line) for at, line in found if _HAS_WORD.search(line)]


def _name_of(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
