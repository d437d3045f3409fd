"""Each sentence of the contract's docstrings is a test's docstring, or has a reason not to be."""

import inspect
import re
from collections.abc import Iterable, Iterator

import pytest

from recollect.stores.contract.base import Store
from recollect.testing.contract_durability import DurableContract
from recollect.testing.store_contract import StoreContract
from tests.harness.plan_contracts.whole_contract import WholeContract

SENTENCE_END = re.compile(r"(?<=[.])\s+(?=[A-Z`*])")
SECTION = re.compile(r"(Args|Returns|Raises):$")

# Sentences that no test of the contract can be about, each with the reason.
UNTESTED = {
    "A durable, transactional store of threads, messages and memories, with a change feed.": (
        "says what a store is; the rest says what it promises"
    ),
    "All methods raise `StoreError` if the backend fails; nothing was written then, except after "
    "`StoreUnavailableError`, when the write may have happened: repeat it with the same ids or "
    "idempotency key.": "how a backend fails is its own: see its tests of failures",
    "Without that the settings may be stale, because changes by other processes are noticed only "
    "on a write.": ("needs another connection: see the tests of SQLite's stamps"),
    "Use it for checkpoints held by this process only; *erase* is called on a worker thread.": (
        "says when to use it; who is told is tested where checkpoints are erased"
    ),
    "Write a scope's index to a file beside the store; blocks the calling thread.": (
        "only SQLite keeps such files: see its tests of index files"
    ),
    "The file; ``None`` if the store keeps none, if the scope has changed since the index was "
    "made, or if writing failed, which is logged.": (
        "only SQLite keeps such files: see its tests of index files"
    ),
    "Return the names (thread, id) of the messages that exist.": (
        "the test of the messages that are named looks at both"
    ),
    "Unlike `digest_of`, a restored backup or a copy into an empty store gives the same digest.": (
        "needs another store: see the tests of backups and copies"
    ),
    "Other processes that have the store open keep the old secret until they reopen it.": (
        "is no promise, but what a caller has to do"
    ),
    "Run *query* as `read` does, but on a read replica if one is fresh enough.": (
        "only PostgreSQL has replicas: see tests/faults/test_postgres_replicas.py"
    ),
    "A replica answers only if it lacks no change of the scopes of *cursors* that is older than "
    "*stale_s_max* seconds, no erase in them at all, and nothing that a reader at *cursors* has "
    "read already.": "only PostgreSQL has replicas: see tests/faults/test_postgres_replicas.py",
    "*query* must read no other scopes.": "is no promise, but what a caller has to do",
    "Otherwise, and where there are no replicas, the primary answers.": (
        "needs replicas: see tests/faults/test_postgres_replicas.py"
    ),
    "Raise if every write would be refused now, as on a standby; nothing is written.": (
        "needs a server or a file that refuses writes: see tests/integration/test_write_access.py"
    ),
    "StoreReadOnlyError: The store may only be read.": "see tests/integration/test_write_access.py",
    "StoreError: The store does not answer.": "see tests/integration/test_write_access.py",
    **dict.fromkeys(
        (
            "Erase the graph checkpoints of what *entries* name; return of how many threads.",
            "A graph may have checkpoints of a thread that is not stored.",
            "Those of a thread are erased if it is named, or its scope as a whole.",
        ),
        "needs LangGraph's saver: see tests/integration/test_langgraph_restored.py",
    ),
    "StoreUnavailableError: Another process reads from the file; try again later.": (
        "needs another process: see the tests of each backend that has files"
    ),
}


def sentences(docstring: str) -> Iterator[str]:
    """Yield the sentences of a docstring, each on one line; of sections, entry by entry."""
    for block in re.split(r"\n\s*\n", inspect.cleandoc(docstring)):
        if block.startswith(">>> "):  # an example, which is run
            continue
        first, *rest = block.split("\n")
        section = SECTION.match(first)
        entries = entries_of(rest, whole=section[1] == "Returns") if section else [block]
        for entry in entries:
            yield from SENTENCE_END.split(" ".join(entry.split()))


def entries_of(lines: list[str], *, whole: bool) -> list[str]:
    """Return the entries of a section; a *whole* one has one."""
    entries: list[str] = []
    for line in lines:
        if entries and (whole or line.startswith(" " * 5)):
            entries[-1] += f" {line}"
        else:
            entries.append(line)
    return entries


def promises(contract: type) -> set[str]:
    """Return the sentences of a class and of its public methods."""
    named = [value for name, value in inspect.getmembers(contract) if not name.startswith("_")]
    docstrings = [inspect.getdoc(each) for each in (contract, *named) if callable(each)]
    return {sentence for each in docstrings if each for sentence in sentences(each)}


def told(suites: Iterable[type]) -> set[str]:
    """Return the sentences of the docstrings of all tests in *suites*."""
    tests = [
        value
        for suite in suites
        for name, value in inspect.getmembers(suite)
        if name.startswith("test_")
    ]
    return {sentence for test in tests for sentence in sentences(inspect.getdoc(test) or "")}


def test_every_sentence_has_a_test() -> None:
    """Whoever changes a sentence of the contract has a test to write, or to change."""
    untold = promises(Store) - told([WholeContract, DurableContract]) - UNTESTED.keys()

    assert set() == untold


def test_what_is_excused_is_still_said() -> None:
    """No excuse outlives its sentence."""
    assert set() == UNTESTED.keys() - promises(Store)


def test_every_test_says_what_it_is_about() -> None:
    """Every test of the contract has a docstring."""
    suites = [*StoreContract.__bases__, *WholeContract.__bases__[1:], DurableContract]

    silent = [
        f"{suite.__name__}.{name}"
        for suite in suites
        for name, value in inspect.getmembers(suite)
        if name.startswith("test_") and not inspect.getdoc(value)
    ]

    assert [] == silent


class MadeUp:
    """A contract."""

    def promise(self) -> None:
        """
        Do this. Then that.

        Args:
            one: The first,
                told on two lines. And more.
            other: The second.

        Raises:
            ValueError: It went wrong.
        """


@pytest.mark.parametrize(
    "sentence",
    [
        "A contract.",
        "Do this.",
        "Then that.",
        "one: The first, told on two lines.",
        "And more.",
        "other: The second.",
        "ValueError: It went wrong.",
    ],
)
def test_a_sentence_without_a_test_is_reported(sentence: str) -> None:
    """Each sentence of a summary, of prose and of sections counts by itself."""
    assert sentence in promises(MadeUp)
    assert 7 == len(promises(MadeUp))
