"""Slash commands of the chat: inspect memories, and correct them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from recollect.cli.chat_tables import (
    aside,
    dated_words,
    print_known,
    print_later,
    print_memory,
    print_versions,
)
from recollect.cli.commands.erase import counts_in, print_receipt
from recollect.cli.commands.recall import print_entries
from recollect.cli.formation_results import print_results
from recollect.cli.formation_tables import countdown, summed_counts
from recollect.cli.layout import minute
from recollect.cli.output import counted, print_table
from recollect.cli.store_choice import time_now
from recollect.errors import NotFoundError, UsageError
from recollect.memory.pagination import each_memory
from recollect.records import Formation
from recollect.stores.pages import each_row

if TYPE_CHECKING:
    from recollect.chat import Chatbot
    from recollect.formation.review_records import LaterWords
    from recollect.recall.context import Context
    from recollect.records import Json, Memory, MemoryAddress, Message, Thread
    from recollect.stores.plans.erase_targets import EraseTarget
    from recollect.worker.formation_result import FormationResult

ResultT = TypeVar("ResultT")
FORMATIONS_LOOKED_AT: Final = 20
PENDING_THREADS: Final = 100
_TITLES: Final = {
    "active": "",
    "quarantined": "waiting for you: /approve TYPE KEY or /reject TYPE KEY",
    "rejected": "refused, and not formed again",
}


class PortalCall(Protocol):
    """Runs an async function on the memory's loop."""

    def __call__(self, function: Callable[[], Awaitable[ResultT]], /) -> ResultT:
        """Return the result of *function*."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SlashCommand:
    """A slash command: its usage, its summary, and its function."""

    usage: str
    summary: str
    act: Callable[[str], None]


class ChatCommands:
    """The slash commands of a chat; *known* is the context of the last answer."""

    def __init__(
        self,
        bot: Chatbot,
        call: PortalCall,
        confirmed: Callable[[str], bool],
        interruptible: Callable[[Callable[[], Awaitable[None]]], None],
    ) -> None:
        self.known: Context | None = None
        self._bot = bot
        self._memory = bot.memory
        self._call = call
        self._confirmed = confirmed
        self._interruptible = interruptible
        # Formations before the chat are not reported as new.
        self._seen = {each.id for each in self._formations()}
        self._commands: Mapping[str, SlashCommand] = {
            each.usage.partition(" ")[0]: each for each in self._slash_commands()
        }

    def _slash_commands(self) -> tuple[SlashCommand, ...]:
        """Return the commands in the order of /help."""
        return (
            SlashCommand(usage="/new", summary="start a new thread", act=self._new),
            SlashCommand(
                usage="/memories [TYPE KEY]",
                summary="list memories with their evidence, or all versions of one",
                act=self._memories,
            ),
            SlashCommand(
                usage="/recall WORDS", summary="search messages and memories", act=self._recall
            ),
            SlashCommand(
                usage="/why", summary="show the context of the last answer", act=self._why
            ),
            SlashCommand(
                usage="/edit TYPE KEY POINTER JSON",
                summary='correct a memory, as in /edit User User /home "Oslo"',
                act=self._edit,
            ),
            SlashCommand(
                usage="/reject TYPE KEY [POINTER]",
                summary="reject a memory or a part of it, for good",
                act=self._reject,
            ),
            SlashCommand(
                usage="/approve TYPE KEY",
                summary="approve a memory that waits for review",
                act=self._approve,
            ),
            SlashCommand(
                usage="/forget thread|everything|TYPE KEY",
                summary="erase it everywhere, after asking",
                act=self._forget,
            ),
            SlashCommand(usage="/pending", summary="list pending formation", act=self._pending),
            SlashCommand(usage="/form", summary="form what is pending now", act=self._form),
            SlashCommand(usage="/help", summary="this list; //word says /word", act=self._help),
            SlashCommand(usage="/quit", summary="end the chat, as Ctrl-D does", act=self._help),
        )

    def do(self, line: str) -> bool:
        """
        Run the command *line*; return False if the chat ends.

        Raises:
            UsageError: The command is unknown or malformed.
        """
        name, _, rest = line.strip().partition(" ")
        if name == "/quit":
            return False
        if name not in self._commands:
            msg = f"there is no command {name!r}: /help lists them; //… says a line with a slash"
            raise UsageError(msg)
        self._commands[name].act(rest.strip())
        return True

    def show_formed(self) -> None:
        """Report the formations since the last call."""
        for each in reversed(self._formations()):
            if each.id not in self._seen:
                self._seen.add(each.id)
                verb = "remembered" if each.status == "formed" else each.status
                aside(f"{verb}: {summed_counts(each)} ({minute(each.at)} UTC)")

    def show_known(self, message: Message) -> None:
        """Print the memories relevant to *message*, when there is no model."""
        self.known = self._call(lambda: self._bot.known(message))
        print_known(self.known)

    def waiting(self) -> int:
        """Return the number of pending messages of the scope."""
        return sum(each.waiting for each in self._waiting_threads())

    def _waiting_threads(self) -> Sequence[Thread]:
        page = self._call(lambda: self._memory.pending(self._bot.scope, limit=PENDING_THREADS))
        return page.rows

    def _formations(self) -> Sequence[Formation]:
        scope = self._bot.scope
        return self._call(lambda: self._memory.formations(scope, limit=FORMATIONS_LOOKED_AT)).rows

    def _new(self, _: str) -> None:
        aside(f"thread {self._bot.new_thread()}")

    def _help(self, _: str) -> None:
        print_table(("", ""), [(each.usage, each.summary) for each in self._commands.values()])

    def _memories(self, rest: str) -> None:
        scope = self._bot.scope
        if rest:
            memory = self._named(rest, "/memories")
            versions = self._call(lambda: self._memory.history(scope, memory.type, memory.key))
            words = self._call(lambda: dated_words(self._memory, scope, versions))
            print_versions(memory, versions, words)
            return
        found = self._call(self._all)
        words = self._call(lambda: dated_words(self._memory, scope, found))
        later = self._call(self._later)
        for state, title in _TITLES.items():
            shown = [each for each in found if each.state == state]
            if title and shown:
                aside(title)
            for memory in shown:
                reason = self._reason(memory) if state == "quarantined" else ""
                print_memory(memory, words, reason)
                print_later(later.get((memory.type, memory.key), ()))
        aside(counted(len(found), "memory", "memories"))

    async def _all(self) -> list[Memory]:
        found = each_memory(self._memory, self._bot.scope)
        return [each async for each in found]

    async def _later(self) -> Mapping[MemoryAddress, Sequence[LaterWords]]:
        """Return what was said since about the memories that wait for review."""
        waiting = each_row(lambda cursor: self._memory.review(self._bot.scope, cursor=cursor))
        return {(e.memory.type, e.memory.key): e.since async for e in waiting}

    def _reason(self, memory: Memory) -> str:
        """Return why a memory waits for review: the cause of its current version."""
        scope = self._bot.scope
        return self._call(lambda: self._memory.history(scope, memory.type, memory.key))[-1].cause

    def _recall(self, rest: str) -> None:
        found = self._call(lambda: self._memory.recall(self._bot.scope, rest))
        print_entries(found)
        aside(f"{len(found.entries)} of {counted(found.eligible, 'entry', 'entries')}")

    def _why(self, _: str) -> None:
        if self.known is None:
            aside("nothing was answered yet")
        else:
            print_known(self.known)

    def _edit(self, rest: str) -> None:
        parts = rest.split(maxsplit=3)
        if len(parts) != 4:
            raise self._misuse("/edit")
        memory = self._named(" ".join(parts[:2]), "/edit")
        value = _json(parts[3])
        said = f"/edit {rest}"
        pointer = "" if parts[2] == "/" else parts[2]
        corrected = self._call(
            lambda: self._bot.correct(memory.type, memory.key, pointer, value, said=said)
        )
        aside(f"corrected {corrected.type}/{corrected.key}, version {corrected.version}")

    def _reject(self, rest: str) -> None:
        parts = rest.split(maxsplit=2)
        memory = self._named(" ".join(parts[:2]), "/reject")
        pointer = parts[2] if len(parts) == 3 else ""
        scope = self._bot.scope
        self._call(lambda: self._memory.reject(scope, memory.type, memory.key, pointer=pointer))
        aside(f"rejected {pointer or 'all'} of {memory.type}/{memory.key}: it is not formed again")

    def _approve(self, rest: str) -> None:
        memory = self._named(rest, "/approve")
        self._call(lambda: self._memory.approve(self._bot.scope, memory.type, memory.key))
        aside(f"approved {memory.type}/{memory.key}")

    def _forget(self, rest: str) -> None:
        target, what = self._target(rest)
        scope = self._bot.scope
        preview = self._call(lambda: self._memory.store.preview_erase(scope, target))
        quoting = self._call(lambda: self._memory.quotations(scope, target))
        if not self._confirmed(f"{what} would lose {counts_in(preview)}. Erase?"):
            aside("nothing was erased")
            return
        print_receipt(self._call(lambda: self._memory.erase(scope, target)))
        if quoting:
            aside(f"{counted(len(quoting), 'message')} still say it: /forget thread erases them")

    def _target(self, rest: str) -> tuple[EraseTarget, str]:
        from recollect.stores.plans.erase_targets import EraseMemory, EraseScope, EraseThread

        if rest == "thread":
            return EraseThread(thread=self._bot.thread), f"thread {self._bot.thread}"
        if rest == "everything":
            return EraseScope(below=False), "your memory"
        memory = self._named(rest, "/forget")
        address = f"{memory.type}/{memory.key}"
        return EraseMemory(type=memory.type, key=memory.key), address

    def _pending(self, _: str) -> None:
        threads = self._waiting_threads()
        now = time_now(self._memory)
        rows = [(each.id, each.waiting, countdown(each, now)) for each in threads]
        if rows:
            print_table(("thread", "waiting", "formed"), rows, right=("waiting",))
        else:
            aside("nothing waits to be formed")
        worker = self._memory.worker
        if rows and worker is None:
            aside("there is no model to form it")
        if worker is not None and worker.breaker.reason:
            aside(f"the model cannot be used: {worker.breaker.reason}")

    def _form(self, _: str) -> None:
        results: list[FormationResult] = []

        async def form() -> None:
            results.extend(await self._memory.form(self._bot.scope))

        self._interruptible(form)
        self._seen |= {each.id for each in self._formations()}
        print_results(results)
        if not results:
            aside("nothing was formed: nothing is pending, or another worker is forming it")

    def _named(self, rest: str, command: str) -> Memory:
        """Return the memory that TYPE KEY names; an unambiguous prefix of the key is enough."""
        parts = rest.split()
        if len(parts) != 2:
            raise self._misuse(command)
        type_, key = parts
        scope = self._bot.scope
        exact = self._call(lambda: self._memory.get(scope, type_, key))
        if exact is not None:
            return exact
        found = [
            each
            for each in self._call(self._all)
            if each.type == type_ and each.key.startswith(key)
        ]
        if len(found) == 1:
            return found[0]
        msg = f"{len(found)} memories begin so" if found else "there is no such memory"
        raise NotFoundError(f"{type_} {key}: {msg}; /memories lists them")

    def _misuse(self, command: str) -> UsageError:
        return UsageError(f"write {self._commands[command].usage}")


def _json(written: str) -> Json:
    from recollect.formation.strict_json import NotJsonError, read_json

    try:
        return read_json(written)
    except NotJsonError as error:
        msg = f'{written!r} is not JSON ({error}): write text in quotes, such as "Oslo"'
        raise UsageError(msg) from error
