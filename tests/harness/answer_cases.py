"""Answers as a model gives them, in short, and the tests of rules by right and wrong ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import pytest

from benchmarks.support import verdict_on

AT: Final = "2025-03-12T09:00:00Z"
Call: TypeAlias = Mapping[str, Any]
Known: TypeAlias = Mapping[str, Any]
Case: TypeAlias = Mapping[str, Any]
Mutant: TypeAlias = tuple[Any, str, Any, str]
"""A module, the name of a rule in it, what takes its place, and the right answer it is for."""


def case(
    said: Sequence[str], *calls: Call, known: Sequence[Known] = (), name: str = "case"
) -> Mapping[str, Any]:
    """Return a case: lines begin with the role's letter, "-" before it for an old one."""
    roles = {"u": "user", "a": "assistant", "t": "tool", "s": "system"}
    lines = [
        {
            "role": roles[each.lstrip("-")[0]],
            "name": None,
            "time": AT,
            "text": each.partition(": ")[2],
            "new": not each.startswith("-"),
        }
        for each in said
    ]
    return {"id": name, "lines": lines, "known": list(known), "calls": list(calls)}


def loses_without(
    rule: tuple[Any, str, Any], right: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> bool:
    """Return True if a *right* answer is stopped, or trusted less, with a *rule* replaced."""
    before = verdict_on(right)
    monkeypatch.setattr(*rule)
    after = verdict_on(right)
    return not after.passes or after.as_user < before.as_user


def spoken(*said: tuple[str, str]) -> list[dict[str, Any]]:
    """Return the lines of users with names: each with a name and a text."""
    return [
        {"role": "user", "name": name, "time": AT, "text": text, "new": True} for name, text in said
    ]


def note(content: str, *because: str, context: str = "talk") -> Call:
    """Return the call that keeps a note."""
    value = {"context": context, "content": content}
    return {"name": "Note", "arguments": {"value": value, "because": list(because)}}


def user(value: Mapping[str, Any], *because: str) -> Call:
    """Return the call that keeps a profile."""
    return {"name": "User", "arguments": {"value": value, "because": list(because)}}


def patch(id_: str, op: str, path: str, because: str, value: object = None) -> Call:
    """Return the call that changes a memory."""
    change: dict[str, object] = {"op": op, "path": path, "because": because}
    if op != "remove":
        change["value"] = value
    return {"name": "patch_memory", "arguments": {"id": id_, "changes": [change]}}


def end(id_: str, because: str) -> Call:
    """Return the call that ends a memory."""
    return {"name": "end_memory", "arguments": {"id": id_, "because": because}}


def known_note(content: str) -> Known:
    """Return a note that is remembered, as m1."""
    return {"id": "m1", "type": "Note", "value": {"context": "talk", "content": content}}


def known_user(**value: object) -> Known:
    """Return a profile that is remembered, as m1."""
    return {"id": "m1", "type": "User", "value": value}


def right_answers_pass(right: Mapping[str, Case]) -> Callable[[str], None]:
    """Return the test that each *right* answer passes at once."""

    @pytest.mark.parametrize("name", right)
    def test(name: str) -> None:
        verdict = verdict_on(right[name])

        assert verdict.passes, verdict.reasons

    return test


def wrong_answers_are_not_the_users(wrong: Mapping[str, Case]) -> Callable[[str], None]:
    """Return the test that no *wrong* answer becomes what the user said."""

    @pytest.mark.parametrize("name", wrong)
    def test(name: str) -> None:
        assert not verdict_on(wrong[name]).as_user

    return test


def each_rule_is_needed(
    mutants: Mapping[str, Mutant], right: Mapping[str, Case]
) -> Callable[[pytest.MonkeyPatch, str], None]:
    """Return the test that without a rule a *right* answer is stopped, or trusted less."""

    @pytest.mark.parametrize("mutant", mutants)
    def test(monkeypatch: pytest.MonkeyPatch, mutant: str) -> None:
        module, name, replacement, case_name = mutants[mutant]

        assert loses_without((module, name, replacement), right[case_name], monkeypatch)

    return test
