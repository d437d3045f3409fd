"""A pattern in the language of ECMA-262, read into its parts."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from recollect.errors import UsageError

GROUPS_DEPTH_MAX: Final = 50

Test: TypeAlias = Callable[[str], bool]
WORD: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_LINE_ENDS: Final = frozenset("\n\r\u2028\u2029")
_CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}
_NO_SPACES: Final = "\x1c\x1d\x1e\x1f\x85"
_HEX_LENGTHS: Final = {"x": 2, "u": 4}
_CATEGORIES: Final = frozenset(
    "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp "
    "C Cc Cf Co".split()
)


@dataclass(frozen=True, slots=True)
class Chars:
    """One character for which *test* holds."""

    test: Test


@dataclass(frozen=True, slots=True)
class Border:
    """A place that must hold between two characters: ``^``, ``$``, ``b`` or ``B``."""

    kind: str


@dataclass(frozen=True, slots=True)
class Row:
    """Parts, one after the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several options."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part, *least* to *most* times (``None``: any number)."""

    part: Node
    least: int
    most: int | None


Node: TypeAlias = Chars | Border | Row | Choice | Repeat


def _is_digit(character: str) -> bool:
    return "0" <= character <= "9"


def _is_space(character: str) -> bool:
    return character == "\ufeff" or (character.isspace() and character not in _NO_SPACES)


_CLASSES: Final[dict[str, Test]] = {"d": _is_digit, "w": WORD.__contains__, "s": _is_space}


def _negated(test: Test) -> Test:
    return lambda character: not test(character)


def _between(first: str, last: str) -> Test:
    return lambda character: first <= character <= last


class Reader:
    """Reads a pattern into its parts."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.depth = 0

    def read(self) -> Node:
        """Return the whole pattern; `UsageError` where it is none that we support."""
        node = self._choice()
        if self.at < len(self.pattern):
            raise self._refusal("a ')' closes nothing: write '\\)' for the character")
        return node

    def _refusal(self, reason: str) -> UsageError:
        return UsageError(f"the pattern {self.pattern!r}, at character {self.at}: {reason}")

    def _next(self) -> str:
        if self.at >= len(self.pattern):
            raise self._refusal("it ends too early")
        self.at += 1
        return self.pattern[self.at - 1]

    def _takes(self, text: str) -> bool:
        found = self.pattern.startswith(text, self.at)
        self.at += len(text) if found else 0
        return found

    def _choice(self) -> Node:
        options = [self._row()]
        while self._takes("|"):
            options.append(self._row())
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _row(self) -> Node:
        parts: list[Node] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            parts.append(self._repeated(self._atom()))
        return parts[0] if len(parts) == 1 else Row(tuple(parts))

    def _atom(self) -> Node:
        character = self._next()
        if character == "(":
            return self._group()
        if character == "[":
            return self._set()
        if character == "\\" and self.pattern[self.at : self.at + 1] in ("b", "B"):
            return Border(self._next())
        if character in "^$":
            return Border(character)
        if character in "*+?":
            raise self._refusal(f"{character!r} repeats nothing: write '\\{character}' for it")
        return Chars(self._single(character))

    def _single(self, character: str) -> Test:
        if character == "\\":
            return self._escape()
        return _negated(_LINE_ENDS.__contains__) if character == "." else character.__eq__

    def _group(self) -> Node:
        if self._takes("?"):
            is_named = self._takes("<") and self.pattern[self.at : self.at + 1] not in ("=", "!")
            if is_named:
                while self._next() != ">":
                    pass
            elif not self._takes(":"):
                raise self._refusal(
                    "looking ahead or behind and flags are not supported: "
                    "say it with several patterns under 'allOf' and 'not'"
                )
        self.depth += 1
        if self.depth > GROUPS_DEPTH_MAX:
            raise self._refusal(f"groups more than {GROUPS_DEPTH_MAX} deep (GROUPS_DEPTH_MAX)")
        inner = self._choice()
        self.depth -= 1
        if not self._takes(")"):
            raise self._refusal("a group is not closed: ')' is missing")
        return inner

    def _repeated(self, part: Node) -> Node:
        for sign, least, most in (("*", 0, None), ("+", 1, None), ("?", 0, 1)):
            if self._takes(sign):
                return self._once(Repeat(part, least, most))
        counts = self._counts()
        return part if counts is None else self._once(Repeat(part, *counts))

    def _once(self, repeat: Repeat) -> Repeat:
        self._takes("?")  # lazy or greedy: the same texts match
        if self.pattern[self.at : self.at + 1] in ("*", "+", "?"):
            raise self._refusal("a repeat is repeated: put it into a group '(?:…)'")
        return repeat

    def _counts(self) -> tuple[int, int | None] | None:
        """Read ``{2}``, ``{2,}`` or ``{2,5}``; any other brace is a character."""
        end = self.pattern.find("}", self.at)
        if not self.pattern.startswith("{", self.at) or end < 0:
            return None
        least, comma, most = self.pattern[self.at + 1 : end].partition(",")
        if not all(_is_digit(each) for each in least + most) or not 0 < len(least) <= 9:
            return None
        if len(most) > 9 or (most and int(most) < int(least)):
            raise self._refusal(f"{{{least},{most}}} is no range")
        self.at = end + 1
        return int(least), int(most) if most else None if comma else int(least)

    def _escape(self) -> Test:
        character = self._next()
        if character in "dws":
            return _CLASSES[character]
        if character in "DWS":
            return _negated(_CLASSES[character.lower()])
        if character in "pP":
            found = self._category()
            return found if character == "p" else _negated(found)
        if character in _CONTROLS:
            return _CONTROLS[character].__eq__
        if character in _HEX_LENGTHS:
            return self._code(character).__eq__
        if character.isalnum():
            is_reference = _is_digit(character) or character == "k"
            what = "a reference to a group" if is_reference else "unknown"
            raise self._refusal(f"'\\{character}' is {what}, which is not supported")
        return character.__eq__

    def _code(self, kind: str) -> str:
        if kind == "u" and self._takes("{"):
            end = self.pattern.find("}", self.at)
            digits = self.pattern[self.at : end] if end >= 0 else ""
            self.at = end + 1
        else:
            digits = self.pattern[self.at : self.at + _HEX_LENGTHS[kind]]
            self.at += len(digits)
            digits = digits if len(digits) == _HEX_LENGTHS[kind] else ""
        is_hex = 0 < len(digits) <= 6 and all(each in "0123456789abcdefABCDEF" for each in digits)
        if not is_hex or int(digits, 16) > 0x10FFFF:
            raise self._refusal(f"'\\{kind}' needs the hexadecimal code of a character")
        return chr(int(digits, 16))

    def _category(self) -> Test:
        end = self.pattern.find("}", self.at)
        name = self.pattern[self.at : end] if self._takes("{") and end >= 0 else ""
        if name not in _CATEGORIES:
            raise self._refusal(
                "'\\p' takes a general category of Unicode, such as '\\p{L}' for letters"
            )
        self.at = end + 1
        return lambda character: unicodedata.category(character).startswith(name)

    def _set(self) -> Node:
        is_negated = self._takes("^")
        tests: list[Test] = []
        while not self._takes("]"):
            first = self._member()
            is_range = self.pattern.startswith("-", self.at) and self.pattern[
                self.at + 1 : self.at + 2
            ] not in ("]", "")
            if not is_range:
                tests.append(first.__eq__ if isinstance(first, str) else first)
                continue
            self.at += 1
            last = self._member()
            if not isinstance(first, str) or not isinstance(last, str) or last < first:
                raise self._refusal("a range in '[…]' must go from one character to a later one")
            tests.append(_between(first, last))
        every = tuple(tests)
        found: Test = lambda character: any(test(character) for test in every)  # noqa: E731
        return Chars(_negated(found) if is_negated else found)

    def _member(self) -> str | Test:
        character = self._next()
        if character != "\\":
            return character
        following = self._next()
        if following == "b":
            return "\b"
        if following in _CONTROLS:
            return _CONTROLS[following]
        if following in _HEX_LENGTHS:
            return self._code(following)
        if not following.isalnum():
            return following
        self.at -= 1
        return self._escape()
