"""Contract tests for findings: an agent's evidence, stored and read."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from recollect.errors import LimitError, UsageError
from recollect.records import Evidence, FileLines, NewMessage, PutMemory
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import (
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseSource,
    EraseThread,
)
from recollect.testing.contract_base import ADA, TALK, Contract, keys_in, tell

MAKEFILE = FileLines.quoting("build/Makefile", 12, "test:\n\tpytest -q\n")
OWN = Evidence(thread=TALK, message="f1", kind="agent")
IN_FILE = Evidence(
    thread=TALK, message="f2", quote="pytest -q", group=2, kind="file", file=MAKEFILE
)
SOURCED = replace(OWN, message="f3", source="mcp")
FILE_SOURCED = replace(IN_FILE, message="f4", source="mcp")
EVERY = {"agent": OWN, "file": IN_FILE, "sourced": SOURCED, "file of a source": FILE_SOURCED}
HIDDEN = ("a\0b", "a\nb", "a\u202eb", "a\u200bb", "a\x7fb", "a\u2028b")
PATHS = (
    "", " ", "..", "../a", "a/../b", "a/..", "/etc/passwd", "//host/a", "C:/a", "c:a", "C:\\a",
    "a\\b", "\\\\host\\a", "~/.ssh", "~ada/a", "./a", "a/./b", "a//b", "a/", "file:///a",
    "a" * 10_000, *HIDDEN,
)  # fmt: skip
"""Invalid paths of findings: they leave the project, or have invisible characters."""


def found(*evidence: Evidence, key: str = "tests") -> PutMemory:
    """Return a write of a fact with *evidence* that claims the trust of a user."""
    return PutMemory(type="Fact", key=key, value={"run": "pytest"}, evidence={"/run": evidence})


class FindingContract(Contract):
    """Memories that cite an agent's findings."""

    @pytest.mark.parametrize("evidence", EVERY.values(), ids=EVERY)
    async def test_a_finding_comes_back_as_it_was(self, store: Store, evidence: Evidence) -> None:
        """With its kind, path, lines, digest and source, in the memory and in its history."""
        await store.apply(ADA, [found(evidence), found(replace(evidence, message="f9"))])

        memory = await store.get(ADA, "Fact", "tests")
        first, _ = await store.history(ADA, "Fact", "tests")

        assert memory is not None
        assert {"/run": (replace(evidence, message="f9"),)} == memory.evidence
        assert {"/run": (evidence,)} == first.evidence

    @pytest.mark.parametrize("evidence", [OWN, IN_FILE], ids=["agent", "file"])
    async def test_a_finding_is_never_a_users_word(self, store: Store, evidence: Evidence) -> None:
        """Also where the write asks for another trust, or cites a user's message beside it."""
        await tell(store, "m1")
        said = Evidence(thread=TALK, message="m1", quote="words of m1")
        writes = [
            found(evidence),
            found(said, evidence, key="both"),
            replace(found(evidence, key="other"), trust="external"),
            found(said, key="said"),
        ]
        written = await store.apply(ADA, writes)

        assert ["agent", "agent", "agent", "user"] == [each.trust for each in written if each]

    async def test_what_takes_over_a_finding_is_an_agents(self, store: Store) -> None:
        """A write that cites nothing and keeps the words of a finding rests on it still."""
        await store.apply(ADA, [found(OWN)])

        (kept,) = await store.apply(ADA, [replace(found(OWN), evidence={})])

        assert kept is not None
        assert ("agent", {"/run": (OWN,)}) == (kept.trust, kept.evidence)

    async def test_a_finding_needs_no_message(self, store: Store) -> None:
        """It is dated by no message, and its thread need not be there."""
        (memory,) = await store.apply(ADA, [found(OWN)])

        assert memory is not None
        assert memory.said_at is None
        assert await store.thread(ADA, TALK) is None

    @pytest.mark.parametrize(
        "target",
        [EraseThread(thread=TALK), EraseScope(), EraseMessages(thread=TALK, messages=["f1"])],
        ids=["thread", "scope", "finding"],
    )
    @pytest.mark.parametrize("is_talk", [True, False], ids=["a talk", "no talk"])
    async def test_a_finding_goes_with_its_talk(
        self, store: Store, target: EraseThread | EraseScope | EraseMessages, *, is_talk: bool
    ) -> None:
        """And with its past, also where no message of the thread is left."""
        if is_talk:
            await tell(store, "m1")
        await store.apply(ADA, [found(OWN), found(OWN)])

        await store.erase(ADA, target)

        assert [] == await keys_in(store)
        assert () == await store.history(ADA, "Fact", "tests")

    async def test_a_finding_goes_with_the_words_it_repeats(self, store: Store) -> None:
        """In one group with a message it is not enough by itself; beside it, it is."""
        await tell(store, "m1")
        said = Evidence(thread=TALK, message="m1")
        together = [replace(each, group=1) for each in (OWN, said)]
        await store.apply(ADA, [found(*together), found(OWN, said, key="beside")])

        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))

        left = await store.get(ADA, "Fact", "beside")
        assert ["beside"] == await keys_in(store)
        assert left is not None
        assert ({"/run": (OWN,)}, "agent") == (left.evidence, left.trust)

    async def test_a_finding_goes_with_its_source(self, store: Store) -> None:
        """With the messages of that source, and the past; those of other sources stay."""
        words = NewMessage(role="user", text="words", id="m1", source="mcp")
        await store.append(ADA, TALK, [words])
        other = replace(SOURCED, message="f5", source="crewai")
        said = Evidence(thread=TALK, message="m2", quote="words of m2")
        await store.append(ADA, TALK, [NewMessage(role="user", text="words of m2", id="m2")])
        await store.apply(ADA, [found(FILE_SOURCED), found(SOURCED)])
        await store.apply(
            ADA,
            [
                found(OWN, key="own"),
                found(other, key="other"),
                found(SOURCED, said, key="beside"),
                found(replace(SOURCED, message="f6"), key="restated"),
                PutMemory(type="Fact", key="restated", value={}, evidence={"": [said]}),
            ],
        )

        receipt = await store.erase(ADA, EraseSource(source="mcp"))

        beside = await store.get(ADA, "Fact", "beside")
        assert (1, 1, 1) == (receipt.messages, receipt.memories, receipt.revised)
        assert ["beside", "other", "own", "restated"] == sorted(await keys_in(store))
        assert beside is not None
        assert {"/run": (said,)} == beside.evidence
        assert 1 == len(await store.history(ADA, "Fact", "restated"))
        again = await store.erase(ADA, EraseSource(source="mcp"))
        assert (0, 0, 0) == (again.messages, again.memories, again.revised)

    @pytest.mark.parametrize(
        "target",
        [EraseThread(thread=TALK), EraseMemory(type="Fact", key="tests")],
        ids=["thread", "memory"],
    )
    async def test_an_erased_finding_leaves_nothing_to_its_source(
        self, store: Store, target: EraseThread | EraseMemory
    ) -> None:
        """A memory that is written again at the same address stays."""
        await store.apply(ADA, [found(SOURCED)])
        await store.erase(ADA, target)
        await store.apply(ADA, [found(replace(OWN, thread="later"))])

        receipt = await store.erase(ADA, EraseSource(source="mcp"))

        assert (0, 0) == (receipt.memories, receipt.revised)
        assert ["tests"] == await keys_in(store)

    @pytest.mark.parametrize("source", ["", "a\0b", "a" * 2_000, 3], ids=ascii)
    async def test_a_source_is_a_name(self, store: Store, source: str) -> None:
        """As a message's is."""
        with pytest.raises((UsageError, LimitError)):
            await store.apply(ADA, [found(replace(OWN, source=source))])

    async def test_another_talk_keeps_its_findings(self, store: Store) -> None:
        """Of the same ids too."""
        await store.apply(ADA, [found(OWN), found(replace(OWN, thread="other"), key="other")])

        await store.erase(ADA, EraseThread(thread=TALK))

        assert ["other"] == await keys_in(store)

    @pytest.mark.parametrize("path", PATHS, ids=lambda path: ascii(path)[:20])
    async def test_no_path_leaves_its_project(self, store: Store, path: str) -> None:
        """Nor hides a character; nothing of the write is kept."""
        evidence = replace(IN_FILE, file=FileLines(path=path, line=1))

        with pytest.raises((UsageError, LimitError)):
            await store.apply(ADA, [found(OWN, key="first"), found(evidence)])

        assert [] == await keys_in(store)

    @pytest.mark.parametrize(
        "file",
        [
            FileLines(path="a", line=0),
            FileLines(path="a", line=-1),
            FileLines(path="a", line=1 << 60),
            FileLines(path="a", line=True),
            FileLines(path="a", line=3, last_line=2),
            FileLines(path="a", line=1, digest=""),
            FileLines(path="a", line=1, digest="sha256:" + "g" * 64),
            FileLines(path="a", line=1, digest="sha256:" + "A" * 64),
            FileLines(path="a", line=1, digest="md5:" + "a" * 32),
            {"path": "a", "line": 1},
        ],
        ids=repr,
    )
    async def test_lines_are_counted_and_digests_have_a_form(
        self, store: Store, file: FileLines
    ) -> None:
        """A line from 1, the last not before the first, a digest of 64 digits or none."""
        with pytest.raises(UsageError):
            await store.apply(ADA, [found(replace(IN_FILE, file=file))])

    @pytest.mark.parametrize(
        "evidence",
        [
            replace(OWN, kind="person"),  # type: ignore[arg-type]
            replace(OWN, kind="file"),
            replace(OWN, file=MAKEFILE),
            replace(OWN, kind="message", file=MAKEFILE),
            replace(OWN, kind="message", source="mcp"),
            replace(OWN, thread="memory:"),
            replace(OWN, thread="source:"),
        ],
        ids=[
            *("unknown", "no lines", "lines of no file", "a message's lines"),
            *("a message's source", "no talk", "no talk either"),
        ],
    )
    async def test_a_kind_has_its_own_fields(self, store: Store, evidence: Evidence) -> None:
        """Lines need a file, and a finding needs a thread."""
        with pytest.raises(UsageError):
            await store.apply(ADA, [found(evidence)])

    async def test_a_finding_is_archived_and_restored(self, store: Store) -> None:
        """As it was; a record that makes a user's words of it is corrected."""
        await store.apply(ADA, [found(OWN, IN_FILE), found(*EVERY.values())])
        records = json.loads(json.dumps(await store.archive(ADA)))
        forged = [
            each | {"trust": "user"} if each["kind"] == "memory" else each for each in records
        ]
        before = await store.get(ADA, "Fact", "tests")
        await store.erase(ADA, EraseScope())

        await store.restore(ADA, forged, erased=True)

        after = await store.get(ADA, "Fact", "tests")
        assert before is not None
        assert before == after
        assert 1 == (await store.erase(ADA, EraseSource(source="mcp"))).revised

    async def test_no_talk_has_the_name_under_which_sources_are_found(self, store: Store) -> None:
        """Else a message of it would be taken for a source."""
        with pytest.raises(UsageError):
            await tell(store, "m1", thread="source:")
