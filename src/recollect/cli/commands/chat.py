"""`recollect chat`: chat at the terminal, or from a pipe, line by line."""

from __future__ import annotations

import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeVar

import click

from recollect.cli.chat_tables import aside
from recollect.cli.formation_config import FormationOptions, forming_options
from recollect.cli.memory_choice import opened_model, opened_to_form
from recollect.cli.options import (
    Command,
    Target,
    embedder_option,
    index_files_option,
    rerank_option,
    scope_from,
    store_option,
)
from recollect.cli.output import counted, note, without_hidden
from recollect.cli.scope_hints import EMPTY_STORE, read_hint
from recollect.errors import EXIT_STATUS, RecollectError
from recollect.text.scope_paths import written_scope

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

    from recollect.chat import ChatAnswer, Chatbot
    from recollect.cli.chat_commands import ChatCommands
    from recollect.records import JsonObject, Message

ResultT = TypeVar("ResultT")

PROMPT: Final = "> "
END_WAIT_S: Final = 5.0
NO_MODEL: Final = (
    "no model: nothing is answered or formed, but your messages are stored, and relevant memories "
    "are shown. --model names one, --model rules tries things out"
)
_VISIBLE: Final = "\n\t\u200c\u200d"

_EXAMPLE: Final = """
\b
Examples:
  recollect chat --model anthropic/claude-haiku-4-5 --user ada
  recollect chat --model openai/qwen3 --base-url http://localhost:8080/v1
  recollect chat --model rules --store try.db --after-seconds 2
"""


def _scope_options(command: Command) -> Command:
    for option in reversed(
        (
            click.option("--user", metavar="ID", help="The user: one more segment below --scope."),
            click.option("--thread", metavar="ID", help="The thread to continue.  [default: new]"),
            click.option("--assistant", metavar="NAME", help="One of the assistants of --config."),
            store_option("A file, created if it does not exist, or memory:."),
            click.option(
                "--scope",
                metavar="A/B/C",
                envvar="RECOLLECT_SCOPE",
                help="Whose memory, as in the other commands.  [env: RECOLLECT_SCOPE]",
            ),
            embedder_option(),
            rerank_option(),
            index_files_option(),
        )
    ):
        command = option(command)
    return command


@click.command(epilog=_EXAMPLE, short_help="Chat with a model that remembers you.")
@forming_options(delay=True)
@_scope_options
@click.option(
    "--budget",
    type=int,
    metavar="TOKENS",
    help="Tokens of memory in a prompt.  [default: 1000]",
)
def chat(
    user: str | None,
    thread: str | None,
    assistant: str | None,
    store: str,
    scope: str | None,
    embedder: str,
    rerank: str | None,
    budget: int | None,
    *,
    index_files: bool,
    forming: FormationOptions,
) -> None:
    """
    Chat with a model that remembers you; /help lists other commands.

    Each line is stored before it is answered, and an answer as far as it was streamed. Memories are
    formed when the conversation pauses. Ctrl-C stops an answer, otherwise it ends the chat, as
    Ctrl-D does. Without a model your messages are still stored and recalled. Input can be piped,
    one turn per line: answers go to standard output, everything else to standard error.
    """
    from recollect.chat import Chatbot
    from recollect.chat.chatbot import MEMORY_TOKENS
    from recollect.cli.chat_commands import ChatCommands
    from recollect.server.quotas import counting
    from recollect.sync.portal import PortalThread

    segments = () if user is None else (user,)
    target = Target(
        store=store,
        scope=scope_from(scope, segments),
        embedder=embedder,
        rerank=rerank,
        index_files=index_files,
        is_json=False,
    )
    settings: JsonObject | None = None if assistant is None else {"assistant": assistant}
    formation = forming.assistants.of(settings or {}, target.scope)
    model = opened_model(forming)
    with PortalThread() as portal:
        opening = opened_to_form(target, forming, model, create=True, worker=True)
        with (
            portal.wrap_async_context_manager(opening) as opened,
            portal.wrap_async_context_manager(counting(opened)) as memory,
        ):
            bot = Chatbot(
                memory,
                model,
                target.scope,
                thread=thread,
                formation=formation,
                settings=settings,
                budget_tokens=MEMORY_TOKENS if budget is None else budget,
            )
            talk = TerminalChat(portal, bot)
            status = talk.run(ChatCommands(bot, talk.call, talk.confirmed, talk.interruptible))
    if status:
        click.get_current_context().exit(status)


class TerminalChat:
    """
    Reads a chat line by line on the main thread, while the memory runs on the portal's thread.

    So Ctrl-C interrupts the line being typed, or the answer being streamed.
    """

    def __init__(self, portal: BlockingPortal, bot: Chatbot) -> None:
        self._portal = portal
        self._bot = bot
        self._is_typed = sys.stdin.isatty()
        self._status = 0

    def run(self, commands: ChatCommands) -> int:
        """Run the chat; return the exit status, which is that of a piped chat's first error."""
        self._prepare()
        self._greet()
        while (line := self.read(PROMPT)) is not None:
            try:
                commands.show_formed()
                if not self._turn(line, commands):
                    break
                commands.show_formed()
            except KeyboardInterrupt:
                aside("interrupted")
            except RecollectError as error:
                note(f"recollect: {error}")
                self._status = self._status or EXIT_STATUS[error.code]
        if waiting := commands.waiting():
            aside(
                f"{counted(waiting, 'message')} still to be formed: by the next `recollect chat`, "
                "`recollect worker` or `recollect form`"
            )
        return 0 if self._is_typed else self._status

    def _turn(self, line: str, commands: ChatCommands) -> bool:
        """Process a line; return False if the chat ends."""
        if not line.strip():
            return True
        if line.startswith("/") and not line.startswith("//"):
            return commands.do(line)
        message = self.call(lambda: self._bot.hear(line[line.startswith("//") :]))
        aside(f"kept {message.position}")
        if self._bot.model is None:
            commands.show_known(message)
        else:
            self.interruptible(lambda: self._answer(message, commands))
        return True

    async def _answer(self, message: Message, commands: ChatCommands) -> None:
        from anyio.lowlevel import checkpoint

        answer: ChatAnswer | None = None
        try:
            async with self._bot.answering(message) as answer:
                commands.known = answer.known
                async for piece in answer.pieces:
                    click.echo(shown_piece(piece), nl=False)
                    await checkpoint()  # so that Ctrl-C can stop a model that never awaits
        finally:
            if answer is not None and answer.text:
                click.echo()
            if answer is not None and answer.kept is not None:
                aside(f"kept {answer.kept.position}")

    def _prepare(self) -> None:
        if self._is_typed:
            with suppress(ImportError):
                import readline  # noqa: F401 (enables line editing)
        elif hasattr(sys.stdin, "reconfigure"):
            # Invalid UTF-8 in a pipe must not end the chat.
            sys.stdin.reconfigure(errors="surrogateescape")

    def _greet(self) -> None:
        bot = self._bot
        who = f"{written_scope(bot.scope)}, thread {bot.thread}"
        aside(f"{bot.model} talks with {who}; /help helps" if bot.model else f"{who}; /help helps")
        hint = self.call(lambda: read_hint(bot.memory, bot.scope, has_below=False))
        if hint and hint != EMPTY_STORE:
            aside(hint)
        if bot.model is None:
            aside(NO_MODEL)

    def read(self, prompt: str) -> str | None:
        """Return the next line, ``None`` at the end of the chat."""
        try:
            if self._is_typed:
                return input(prompt)
            line = sys.stdin.readline()
        except (EOFError, KeyboardInterrupt):
            click.echo()
            return None
        return line.rstrip("\r\n") if line else None

    def confirmed(self, question: str) -> bool:
        """Ask a question, and return True if the answer is yes."""
        aside(question)
        answer = self.read("[y/N] ")
        return answer is not None and answer.strip().lower() in {"y", "yes"}

    def call(self, function: Callable[[], Awaitable[ResultT]]) -> ResultT:
        """Run an async function on the portal's thread, and return its result."""
        return self._portal.call(function)

    def interruptible(self, function: Callable[[], Awaitable[None]]) -> None:
        """
        Run an async function; Ctrl-C cancels it and waits ``END_WAIT_S`` for its end.

        Raises:
            KeyboardInterrupt: It was cancelled.
        """
        ended = threading.Event()

        async def run() -> None:
            try:
                await function()
            finally:
                ended.set()

        future = self._portal.start_task_soon(run)
        try:
            future.result()
        except KeyboardInterrupt:
            future.cancel()
            # The cancelled answer still stores what was streamed.
            ended.wait(END_WAIT_S)
            raise


def shown_piece(piece: str) -> str:
    r"""
    Return a piece of an answer without terminal control characters; line breaks stay.

    >>> shown_piece("one\n\x1b[31mtwo")
    'one\n\ufffd[31mtwo'
    """
    return without_hidden(piece, _VISIBLE)
