"""Cost of formation: input tokens and calls next to other systems, on recorded facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Final

from benchmarks.conversation_files import BenchmarkMessage
from benchmarks.peers import Peer
from benchmarks.recollect_system import new_message
from benchmarks.recorded_facts import FactModel, Session
from recollect.formation.config import FormationSettings
from recollect.formation.types import DEFAULT_TYPES, NOTE, MemoryType
from recollect.memory.facade import Recollect
from recollect.records import NewMessage
from recollect.stores.locator import open_store
from recollect.text.token_estimate import estimated_tokens

EXCHANGE_MESSAGES: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRow:
    """The usage of one system; *batch* is the number of messages per call."""

    system: str
    batch: str
    formations: int
    calls: int
    tokens: int
    stored: int | None = None

    @property
    def tokens_a_formation(self) -> float:
        """Return the input tokens of one formation."""
        return self.tokens / max(1, self.formations)


@dataclass(slots=True)
class CostReport:
    """All rows of one run; its sessions have *said* tokens in all."""

    sessions: int
    messages: int
    said: int
    rows: list[CostRow] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        return asdict(self)


async def form_all(
    sessions: Sequence[Session],
    peers: Sequence[Callable[[], Peer]],
    progress: Callable[[str], None] = lambda _: None,
) -> CostReport:
    """Form all *sessions* with Recollect and each of *peers*; print nothing."""
    messages = [message for session in sessions for message in session.messages]
    report = CostReport(
        sessions=len(sessions),
        messages=len(messages),
        said=sum(estimated_tokens(message.text) for message in messages),
    )
    for name, types in (("recollect, notes", (NOTE,)), ("recollect", DEFAULT_TYPES)):
        progress(name)
        report.rows.append(await _recollect_row(name, types, sessions))
    for batch, split in (("session", _whole), ("exchange", _exchanges)):
        for open_peer in peers:
            peer_row = _peer_row(open_peer, batch, split, sessions)
            progress(f"{peer_row.system}, by {batch}")
            report.rows.append(peer_row)
    return report


async def _recollect_row(
    name: str, types: tuple[MemoryType, ...], sessions: Sequence[Session]
) -> CostRow:
    model = FactModel()
    settings = FormationSettings(types=types)
    stored = 0
    store = open_store("memory:")
    async with Recollect(
        store, embedder="none", model=model, formation=settings, worker=False
    ) as memory:
        for session in sessions:
            model.session = session
            scope = ("bench", session.conversation)
            await memory.append(scope, session.id, [_new(each) for each in session.messages])
            for result in await memory.form(scope):
                model.spent.formations += 1
                stored += sum(outcome.action == "stored" for outcome in result.outcomes)
    spent = model.spent
    return CostRow(
        system=name,
        batch="session",
        formations=spent.formations,
        calls=spent.calls,
        tokens=spent.tokens,
        stored=stored,
    )


def _new(message: BenchmarkMessage) -> NewMessage:
    """Return a message without its picture's caption, which the peers do not get either."""
    return replace(new_message(message), content=None)


def _peer_row(
    open_peer: Callable[[], Peer],
    batch: str,
    split: Callable[[Session], Iterator[Sequence[BenchmarkMessage]]],
    sessions: Sequence[Session],
) -> CostRow:
    """Form every conversation in a separate memory."""
    formations = calls = tokens = 0
    name = ""
    peer: Peer | None = None
    conversation: str | None = None
    for session in sessions:
        if session.conversation != conversation or peer is None:
            peer, conversation = open_peer(), session.conversation
        before = (peer.spent.formations, peer.spent.calls, peer.spent.tokens)
        for messages in split(session):
            peer.form(session, messages)
        name = peer.name
        formations += peer.spent.formations - before[0]
        calls += peer.spent.calls - before[1]
        tokens += peer.spent.tokens - before[2]
    return CostRow(system=name, batch=batch, formations=formations, calls=calls, tokens=tokens)


def _whole(session: Session) -> Iterator[Sequence[BenchmarkMessage]]:
    yield session.messages


def _exchanges(session: Session) -> Iterator[Sequence[BenchmarkMessage]]:
    for at in range(0, len(session.messages), EXCHANGE_MESSAGES):
        yield session.messages[at : at + EXCHANGE_MESSAGES]


def cost_page(report: CostReport) -> str:
    """Return the rows as a table."""
    said = f"{report.messages:,} messages, {report.said:,} tokens said"
    names = ("formations", "calls", "calls each", "input tokens", "a formation")
    heads = "".join(f"{name:>14}" for name in (*names, "stored"))
    lines = [f"formation of {report.sessions} sessions, {said}", f"{'':<18}{'batch':<9}{heads}"]
    for row in report.rows:
        each = row.calls / max(1, row.formations)
        figures = (
            f"{row.formations:>14,}{row.calls:>14,}{each:>14.2f}"
            f"{row.tokens:>14,}{row.tokens_a_formation:>14,.0f}"
        )
        stored = "-" if row.stored is None else f"{row.stored:,}"
        lines.append(f"{row.system:<18}{row.batch:<9}{figures}{stored:>14}")
    return "\n".join(lines) + "\n"
