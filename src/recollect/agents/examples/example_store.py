"""`Examples`: store, correct and select the examples of a scope."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from recollect.agents.examples.example_values import (
    EXAMPLE_TYPE,
    Example,
    check_score,
    checked,
    example_of,
    examples_in_force,
    line_of,
    read_line,
    write_of,
)
from recollect.agents.examples.exchanges_in_talk import exchanges_in
from recollect.agents.examples.selection import (
    Basis,
    Chosen,
    Selection,
    SelectionOptions,
    chosen_of,
    considered,
    filter_of,
    new_secret,
    relevance_of,
)
from recollect.errors import NotFoundError, UsageError
from recollect.memory.cited_messages import citing
from recollect.memory.conflict_retries import retried
from recollect.memory.erasure_guard import guarded
from recollect.memory.facade import Recollect
from recollect.memory.pagination import each_memory, each_message
from recollect.ports import TokenCounter
from recollect.recall.query import Where
from recollect.records import (
    Evidence,
    EvidenceMap,
    JsonObject,
    Memory,
    Page,
    Scope,
    ScopeLike,
    Trust,
)
from recollect.stores.pages import each_page
from recollect.stores.plans.erase_targets import EraseMemory, EraseReceipt
from recollect.stores.validation import (
    WRITES_MAX,
    check_position,
    check_scope,
    check_texts,
    to_datetime,
)
from recollect.sync.method_pairs import method_pair
from recollect.sync.object_home import AnyRecollect, Home
from recollect.text.scope_paths import written_scope
from recollect.text.token_estimate import estimated_tokens

TRIES_MAX: Final = 8
"""Attempts to store an example when concurrent writers come first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedExamples:
    """How many examples of an import were new, changed, or already stored."""

    new: int
    changed: int
    unchanged: int


class Examples:
    """
    The ``Example`` memories of a scope: past tasks, shown to a model in its prompt.

    Every method exists twice: ``add`` blocks, ``aadd`` is awaited (see `Home`). Examples are found
    by their input. Input, reason and output identify an example; a new score or new tags make a new
    version of it.

    Args:
        count_tokens: Counts the tokens of a text; an estimate by default.
    """

    def __init__(
        self,
        memory: AnyRecollect,
        scope: ScopeLike,
        *,
        count_tokens: TokenCounter = estimated_tokens,
    ) -> None:
        self.home = Home(memory)
        self.scope = check_scope(scope)
        self._count_tokens = count_tokens
        self._secret = new_secret()

    async def _add(
        self,
        memory: Recollect,
        input: str,  # noqa: A002 (the public name)
        output: str,
        *,
        reason: str | None = None,
        score: float | None = None,
        tags: Sequence[str] = (),
        evidence: Sequence[Evidence] = (),
        trust: Trust = "user",
    ) -> Example:
        """
        Store an example and return it.

        Omitted fields keep the values of an equal stored example. A less trusted call does not
        change a stored example.

        Args:
            evidence: The messages of which the example was made; erasing them erases it.

        Raises:
            UsageError: Input or output is blank, *score* is not from 0 to 1, or *tags* is a text;
                or *evidence* names a message that is not there, or was erased.
            ConflictError: The example was rejected.
            VersionConflictError: Concurrent writes won ``TRIES_MAX`` times.
        """
        new = checked(
            Example(
                input=input,
                output=output,
                reason=reason,
                score=score,
                tags=tuple(check_texts(tags, "tag")),
            )
        )
        return await self._store_cited(memory, new, evidence, trust)

    add, aadd = method_pair(_add)

    async def _store(
        self, memory: Recollect, new: Example, evidence: EvidenceMap, trust: Trust = "user"
    ) -> Example:
        """Store a validated example, retrying on concurrent writes."""

        async def attempt() -> Memory | None:
            stored = await memory.get(self.scope, EXAMPLE_TYPE, new.identity)
            write = write_of(new, stored, evidence, trust)
            return (await memory.apply(self.scope, [write]))[0] if write else stored

        stored = await retried(attempt, TRIES_MAX)
        return (example_of(stored) if stored else None) or new

    async def _store_cited(
        self, memory: Recollect, new: Example, evidence: Sequence[Evidence], trust: Trust
    ) -> Example:
        """Store a validated example if the messages that it was made of are there."""

        async def store(view: Recollect) -> Example:
            return await self._store(view, new, {"": tuple(evidence)} if evidence else {}, trust)

        return await citing(memory, self.scope, evidence, store)

    async def _add_feedback(
        self,
        memory: Recollect,
        input: str,  # noqa: A002 (the public name)
        output: str,
        *,
        score: float,
        correction: str | None = None,
        reason: str | None = None,
        tags: Sequence[str] = (),
        evidence: Sequence[Evidence] = (),
        trust: Trust = "user",
    ) -> Example:
        """
        Store feedback on an answer: its score, and a correction if there is one.

        The answer is stored with its *score*, so that ``min_score`` excludes bad ones. With a
        *correction*, the correction is stored instead, with *reason* and the score 1; the answer is
        updated with its new score only if it is an example already.

        Returns:
            The correction if there is one, otherwise the answer.

        Raises:
            StaleReadError: Something in the scope was erased while the answer was updated.
        """
        check_score(score)
        if correction is None:
            return await self._add(
                memory,
                input,
                output,
                reason=reason,
                score=score,
                tags=tags,
                evidence=evidence,
                trust=trust,
            )
        given = checked(Example(input=input, output=output))
        named = tuple(check_texts(tags, "tag"))
        better = checked(
            Example(input=input, output=correction, reason=reason, score=1.0, tags=named)
        )
        # An example that is erased meanwhile must not be written anew, without its evidence.
        unerased = await guarded(memory, self.scope)
        for each in await self._with_answer(unerased, given):
            await self._add(
                unerased, each.input, each.output, reason=each.reason, score=score, trust=trust
            )
        return await self._store_cited(memory, better, evidence, trust)

    add_feedback, aadd_feedback = method_pair(_add_feedback)

    async def _gather(
        self,
        memory: Recollect,
        thread: str,
        *,
        score: float,
        of: Scope | None = None,
        last: int | None = None,
        tags: Sequence[str] = (),
    ) -> list[Example]:
        """
        Store each question and answer of a conversation as an example, with its *score*.

        Args:
            thread: The conversation, in the scope *of*; by default in the examples' own scope. In
                that case the messages are the examples' evidence: erasing them erases the examples.
            score: The score of the conversation, from 0 to 1.
            last: Use only this many of the newest questions; all by default.

        Returns:
            The examples, oldest first.

        Raises:
            NotFoundError: The conversation does not exist.
            UsageError: *score* is not from 0 to 1, *last* is below 1, or *tags* is a text.
            ConflictError: An example was rejected; those before it are stored.
            StaleReadError: Something in the conversation was erased meanwhile; earlier examples
                are stored if they do not depend on it.
        """
        check_score(score)
        if last is not None and check_position(last, "last") < 1:
            raise UsageError(f"last={last} gathers nothing: give at least 1, or None for all")
        where = self.scope if of is None else check_scope(of)
        if where == self.scope:
            memory = await guarded(memory, where)
        if await memory.thread(where, thread) is None:
            raise NotFoundError(f"there is no thread {thread!r} in {written_scope(where)}")
        named = tuple(check_texts(tags, "tag"))
        messages = [each async for each in each_message(memory, where, thread)]
        every = list(exchanges_in(messages))
        found = every if last is None else every[-last:]
        examples = [
            checked(Example(input=each.asked, output=each.answered, score=score, tags=named))
            for each in found
        ]
        return [
            await self._store(memory, new, each.evidence if where == self.scope else {})
            for new, each in zip(examples, found, strict=True)
        ]

    gather, agather = method_pair(_gather)

    async def _with_answer(self, memory: Recollect, given: Example) -> list[Example]:
        """Return the examples with this input and output, with any reason."""
        same: JsonObject = {"input": given.input, "output": given.output}
        found = each_memory(memory, self.scope, EXAMPLE_TYPE, conditions=same)
        now = to_datetime(memory.store.now())
        return examples_in_force([each async for each in found], now)

    async def _select(
        self,
        memory: Recollect,
        input: str,  # noqa: A002 (the public name)
        *,
        count: int = 4,
        budget_tokens: int | None = None,
        by: Basis = "both",
        diversity: float = 0.0,
        min_score: float | None = None,
        tags: Sequence[str] = (),
    ) -> Selection:
        """
        Return the examples most relevant to *input*, best first; no model is called.

        If relevance alone does not decide, the candidates are the best ``CONSIDERED_TIMES * count``
        results of recall, at least ``CONSIDERED_MIN``; with several tags, up to ``MATCHES_MAX``.

        Args:
            count: The most examples to return, up to ``CHOSEN_MAX``.
            budget_tokens: The most tokens of the block that `Selection.render` returns; examples
                that do not fit are skipped.
            by: ``"words"``, ``"meaning"`` (which needs an embedder), or ``"both"``, as recall.
            diversity: From 0 (most relevant) to 1 (most diverse).
            min_score: Only examples with at least this score; unscored ones are excluded.
            tags: Only examples with all of these.

        Raises:
            UsageError: *input* is blank, an argument is outside its range, or there is no
                embedder to select by meaning.
        """
        options = SelectionOptions(
            count=count,
            budget_tokens=budget_tokens,
            by=by,
            diversity=diversity,
            min_score=min_score,
            tags=tags,
        )
        if by == "meaning" and memory.embedder is None:
            msg = "by='meaning' needs an embedder: open the memory with one, or select by='words'"
            raise UsageError(msg)
        where = Where(messages=False, types=(EXAMPLE_TYPE,), filter=filter_of(options) or None)
        limit = considered(options)
        recall = await memory.recall(self.scope, input, limit=limit, where=where)
        ranked = [
            Chosen(example=example, relevance=relevance_of(each.signals, each.score, by))
            for each in recall.entries
            if isinstance(each.content, Memory)
            and (example := example_of(each.content)) is not None
        ]
        chosen, tokens = chosen_of(ranked, options, self._count_tokens, self._secret)
        return Selection(input=input, chosen=chosen, tokens=tokens, secret=self._secret)

    select, aselect = method_pair(_select)

    async def _page(
        self, memory: Recollect, *, cursor: str | None = None, limit: int = 100
    ) -> Page[Example]:
        """Return a page of the valid examples, by key; it may hold fewer than *limit*."""
        page = await memory.memories(self.scope, type_=EXAMPLE_TYPE, cursor=cursor, limit=limit)
        now = to_datetime(memory.store.now())
        return Page(rows=tuple(examples_in_force(page.rows, now)), cursor=page.cursor)

    page, apage = method_pair(_page)

    async def _erase(self, memory: Recollect, key: str) -> EraseReceipt:
        """
        Erase an example with its history.

        Raises:
            NotFoundError: There is no example with this key.
        """
        if await memory.get(self.scope, EXAMPLE_TYPE, key) is None:
            raise NotFoundError(f"there is no example {key!r} in {written_scope(self.scope)}")
        return await memory.erase(self.scope, EraseMemory(type=EXAMPLE_TYPE, key=key))

    erase, aerase = method_pair(_erase)

    async def _export_lines(self, memory: Recollect) -> list[str]:
        """Return the valid examples as JSON Lines, by key, without their evidence."""
        found: list[str] = []
        async for page in each_page(
            lambda cursor: self._page(memory, cursor=cursor, limit=WRITES_MAX)
        ):
            found += [line_of(each) for each in page.rows]
        return found

    export_lines, aexport_lines = method_pair(_export_lines)

    async def _import_lines(
        self, memory: Recollect, lines: Iterable[str], *, trust: Trust = "user"
    ) -> ImportedExamples:
        """
        Store the examples in JSON Lines; skip blank lines. Repeating an import changes nothing.

        Raises:
            UsageError: A line is not an example, or *lines* is one text; nothing was written.
            ConflictError: An example was rejected before; earlier batches (of ``WRITES_MAX``) are
                stored.
            VersionConflictError: Another writer changed an example meanwhile: import again.
        """
        if isinstance(lines, str | bytes):
            msg = "lines is one text: give a list of lines, as text.splitlines() returns"
            raise UsageError(msg)
        read = [read_line(line, at) for at, line in enumerate(lines, 1)]
        examples = list({each.identity: each for each in read if each}.values())
        new = changed = 0
        for at in range(0, len(examples), WRITES_MAX):
            batch = examples[at : at + WRITES_MAX]
            found = await memory.store.get_many(
                self.scope, [(EXAMPLE_TYPE, each.identity) for each in batch]
            )
            pairs = zip(batch, found, strict=True)
            writes = [(was, write_of(each, was, {}, trust)) for each, was in pairs]
            if changes := [write for _, write in writes if write]:
                await memory.apply(self.scope, changes)
            new += sum(was is None for was, _ in writes)
            changed += sum(was is not None and write is not None for was, write in writes)
        return ImportedExamples(new=new, changed=changed, unchanged=len(examples) - new - changed)

    import_lines, aimport_lines = method_pair(_import_lines)
