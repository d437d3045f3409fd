"""Cost of conversation memories: model calls, tokens and time, next to the originals."""

from __future__ import annotations

import statistics
import warnings
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import recollect
from benchmarks.library_speed import SpeedFigure, ZipfTalk
from recollect.conversation import (
    BaseMemory,
    ChatHistory,
    ConversationBufferMemory,
    ConversationBufferWindowMemory,
    ConversationEntityMemory,
    ConversationKGMemory,
    ConversationSummaryBufferMemory,
    ConversationSummaryMemory,
    ConversationTokenBufferMemory,
    VectorStoreRetrieverMemory,
)
from recollect.memory.facade import Recollect
from recollect.messages import buffer_string, is_message
from recollect.ports import ModelRequest
from recollect.records import Scope
from recollect.stores.system_clock import timer_s
from recollect.text.token_estimate import estimated_tokens

SCOPE: Final[Scope] = ("bench",)
NAMES: Final = ("Mira", "Oslo", "Aurora", "Tomas", "Porto")
PART: Final = "\x1f"
PROMPTS: Final = {
    "prompt": f"summary{PART}{{summary}}{PART}{{new_lines}}",
    "entity_extraction_prompt": f"names{PART}{{history}}{PART}{{input}}",
    "entity_summarization_prompt": f"text{PART}{{entity}}{PART}{{summary}}{{history}}{{input}}",
    "knowledge_extraction_prompt": f"triples{PART}{{history}}{PART}{{input}}",
    "entity_summaries_prompt": f"texts{PART}{{entities}}{PART}{{history}}{{input}}",
}
SUMMARY_CHARACTERS: Final = 400
TOKENS_PER_MESSAGE: Final = 20


def twenty(_: str) -> int:
    """Count each message as `TOKENS_PER_MESSAGE` tokens, like the originals' model here."""
    return TOKENS_PER_MESSAGE


COUNTED: Final[dict[str, Any]] = {"count_tokens": twenty}


def answered(prompt: str) -> str:
    """Return a rule-based answer to *prompt*: names or facts in it, or a text."""
    kind, *parts = prompt.split(PART)
    if kind == "names":
        return ", ".join(name for name in NAMES if name in parts[-1]) or "NONE"
    if kind == "triples":
        named = (name for name in NAMES if name in parts[-1])
        return "<|>".join(f"({name}, came up in, talk)" for name in named) or "NONE"
    if kind == "texts":
        names = [line.split("<|>")[0].strip() for line in parts[0].splitlines()]
        return "\n".join(f"{name} <|> What is known of {name}." for name in names)
    return f"{' '.join(parts)[-SUMMARY_CHARACTERS:]}."


def said(turn: int) -> tuple[dict[str, str], dict[str, str]]:
    """Return the turn with this number, about one or two of five names."""
    names = [NAMES[turn % 5], *([NAMES[(turn + 2) % 5]] if turn % 3 == 0 else [])]
    return {"input": f"Tell me more of {' and '.join(names)}."}, {"output": "There is much to say."}


@dataclass(slots=True)
class CallCountingModel:
    """A rule-based model that counts its calls."""

    identity: str = "rules/conversation"
    calls: int = 0

    async def __call__(self, request: ModelRequest) -> str:
        """Return the rule-based answer."""
        self.calls += 1
        return answered(request.turns[-1].text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Classic:
    """A memory to measure: its class, and the options that make it cheaper than the original."""

    name: str
    kind: type[BaseMemory]
    options: dict[str, Any] = field(default_factory=dict)
    ways: dict[str, dict[str, Any]] = field(default_factory=dict)
    prompts: tuple[str, ...] = ()
    has_original: bool = True


CLASSICS: Final = (
    Classic(name="buffer", kind=ConversationBufferMemory),
    Classic(name="window", kind=ConversationBufferWindowMemory),
    Classic(
        name="token buffer", kind=ConversationTokenBufferMemory, options={"llm": None, **COUNTED}
    ),
    Classic(
        name="token buffer, all fits",
        kind=ConversationTokenBufferMemory,
        options={"llm": None, "max_token_limit": 10_000_000, **COUNTED},
    ),
    Classic(
        name="summary",
        kind=ConversationSummaryMemory,
        options={"llm": None},
        ways={"every 5 turns": {"every_turns": 5}},
        prompts=("prompt",),
    ),
    Classic(
        name="summary buffer",
        kind=ConversationSummaryBufferMemory,
        options={"llm": None, "max_token_limit": 200, **COUNTED},
        prompts=("prompt",),
    ),
    Classic(
        name="entity",
        kind=ConversationEntityMemory,
        options={"llm": None},
        ways={
            "one call": {"one_call": True},
            "one call, every 5 turns": {"one_call": True, "every_turns": 5},
        },
        prompts=("entity_extraction_prompt", "entity_summarization_prompt"),
    ),
    Classic(
        name="graph",
        kind=ConversationKGMemory,
        options={"llm": None},
        ways={"every 5 turns": {"every_turns": 5}},
        prompts=("entity_extraction_prompt", "knowledge_extraction_prompt"),
    ),
    # The original needs a vector store and embedder of the user's choice: no comparable control.
    Classic(name="vector retriever", kind=VectorStoreRetrieverMemory, has_original=False),
)


@dataclass(slots=True)
class ClassicsReport:
    """All figures of one run; *beside* says which originals were measured."""

    beside: str
    rows: list[SpeedFigure] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        return {"beside": self.beside, "rows": [asdict(row) for row in self.rows]}


async def run(
    *, turns: int, messages: int, progress: Callable[[str], None] = lambda _: None
) -> ClassicsReport:
    """Count calls and tokens over *turns*, time a save and a load at *messages*; print nothing."""
    originals = open_originals()
    version = f"langchain_classic {originals.version}" if originals else "nothing: not installed"
    report = ClassicsReport(beside=version)
    for classic in CLASSICS:
        progress(f"calls and tokens: {classic.name}")
        report.rows += await _cost_rows(classic, originals, turns)
    with TemporaryDirectory(prefix="recollect-bench-") as folder:
        for classic in CLASSICS:
            progress(f"time at {messages:,} messages: {classic.name}")
            for where, url in {
                "in process": "memory:",
                "on disk": str(Path(folder) / f"{classic.name}.db"),
            }.items():
                value, control = await _times(classic, originals, messages, url)
                name = f"{classic.name}, {where}: load and save at {messages:,} messages"
                report.rows.append(_row(name, value, "ms", control))
    return report


async def _cost_rows(
    classic: Classic, originals: Originals | None, turns: int
) -> list[SpeedFigure]:
    calls_there, tokens_there = None, None
    if originals and originals.have(classic):
        calls_there, tokens_there = _their_costs(classic, originals, turns)
    calls_rows, tokens_rows = [], []
    for way, options in {"": {}, **classic.ways}.items():
        name = f"{classic.name}{f', {way}' if way else ''}"
        calls, tokens = await _costs_of(classic, options, turns)
        if classic.prompts:
            what = f"{name}: model calls in {turns} turns"
            calls_rows.append(_row(what, calls, "calls", calls_there))
        what = f"{name}: what the next prompt gets after {turns} turns"
        tokens_rows.append(_row(what, tokens, "tokens", tokens_there))
    return [*calls_rows, *tokens_rows]


def _their_costs(classic: Classic, originals: Originals, turns: int) -> tuple[float, float]:
    theirs, model = originals.made(classic)
    with quiet():
        for number in range(turns):
            inputs, outputs = said(number)
            theirs.load_memory_variables(inputs)
            theirs.save_context(inputs, outputs)
        calls = float(model.calls)
        return calls, tokens_in(theirs.load_memory_variables(said(turns)[0]))


async def _costs_of(classic: Classic, options: dict[str, Any], turns: int) -> tuple[float, float]:
    """Return the number of model calls over the turns, and the tokens added to the next prompt."""
    async with recollect.open(embedder="none", worker=False) as memory:
        model = CallCountingModel()
        mine = made(classic, memory, model, options)
        for number in range(turns):
            inputs, outputs = said(number)
            await mine.aload_memory_variables(inputs)
            await mine.asave_context(inputs, outputs)
        if options and (aflush := getattr(mine, "aflush", None)):
            await aflush()
        calls = float(model.calls)
        return calls, tokens_in(await mine.aload_memory_variables(said(turns)[0]))


def tokens_in(loaded: dict[str, Any]) -> float:
    """Estimate the tokens that the *loaded* variables add to a prompt."""
    return float(sum(estimated_tokens(_text_of(value)) for value in loaded.values()))


def _text_of(value: Any) -> str:
    if isinstance(value, list) and all(map(is_message, value)):
        return buffer_string(value)
    if isinstance(value, dict):
        return "\n".join(f"{name}: {each}" for name, each in value.items())
    return str(value)


async def _times(
    classic: Classic, originals: Originals | None, messages: int, url: str
) -> tuple[float, float | None]:
    """Return the median times of ours and the original, measured alternately."""
    texts = [each.text for each in ZipfTalk().messages(messages)]
    turns = range(max(5, min(30, 100_000 // max(1, messages))))
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    async with recollect.open(url, embedder="none", worker=False) as memory:
        history = ChatHistory(memory, SCOPE, "talk")
        await history.aadd_messages(texts)
        mine = made(classic, memory, CallCountingModel(), {})
        theirs = originals.made(classic)[0] if originals and originals.have(classic) else None
        if originals and theirs:
            originals.add(theirs, texts)
        await _turn(mine, 0)  # the first one also catches up with what was said before
        for number in turns:
            times["ours"].append(await _timed(partial(_turn, mine, number)))
            if theirs is not None:
                with quiet():
                    times["theirs"].append(await _timed(partial(_their_turn, theirs, number)))
    control = statistics.median(times["theirs"]) if times["theirs"] else None
    return statistics.median(times["ours"]), control


async def _turn(memory: BaseMemory, number: int) -> None:
    inputs, outputs = said(number)
    await memory.aload_memory_variables(inputs)
    await memory.asave_context(inputs, outputs)


async def _their_turn(memory: Any, number: int) -> None:
    inputs, outputs = said(number)
    memory.load_memory_variables(inputs)
    memory.save_context(inputs, outputs)


async def _timed(work: Callable[[], Awaitable[None]]) -> float:
    began = timer_s()
    await work()
    return (timer_s() - began) * 1_000


def _row(name: str, value: float, unit: str, control: float | None) -> SpeedFigure:
    beside = "the original, in memory" if unit == "ms" else "the original"
    return SpeedFigure(name=name, value=value, unit=unit, control=beside, control_value=control)


def made(
    classic: Classic, memory: Recollect, model: CallCountingModel, options: dict[str, Any]
) -> BaseMemory:
    """Return our memory of this kind."""
    own = {**classic.options, **options, **{name: PROMPTS[name] for name in classic.prompts}}
    if "llm" in own:
        own["llm"] = model
    if options.get("one_call"):
        own["entity_summaries_prompt"] = PROMPTS["entity_summaries_prompt"]
    return classic.kind(memory, SCOPE, "talk", **own)  # type: ignore[call-arg]


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress the originals' deprecation warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class Originals:
    """The memories of langchain_classic, with a model that answers by the same rules."""

    def __init__(self, memories: Any, version: str) -> None:
        self._memories = memories
        self.version = version

    def have(self, classic: Classic) -> bool:
        """Return True if the original is installed; the graph memory is in a package of its own."""
        if not classic.has_original:
            return False
        try:
            with quiet():
                return hasattr(self._memories, classic.kind.__name__)
        except ImportError:
            return False

    def made(self, classic: Classic) -> tuple[Any, Any]:
        """Return the original of this kind, and its model, which counts its *calls*."""
        from langchain_core.prompts import PromptTemplate

        model = _counting_model()
        with quiet():
            own = {name: each for name, each in classic.options.items() if name not in COUNTED}
            if "llm" in own:
                own["llm"] = model
            own |= {name: PromptTemplate.from_template(PROMPTS[name]) for name in classic.prompts}
            return getattr(self._memories, classic.kind.__name__)(**own), model

    def add(self, memory: Any, texts: list[str]) -> None:
        """Add an existing conversation to the original."""
        from langchain_core.messages import HumanMessage

        memory.chat_memory.add_messages([HumanMessage(content=each) for each in texts])


def open_originals() -> Originals | None:
    """Return the originals, ``None`` where they are not installed."""
    from importlib.metadata import version

    try:
        with quiet():
            from langchain_classic import memory as memories
    except ModuleNotFoundError:
        return None
    return Originals(memories, version("langchain-classic"))


def _counting_model() -> Any:
    from langchain_core.language_models.llms import LLM

    class RuleModel(LLM):
        calls: int = 0

        @property
        def _llm_type(self) -> str:
            return "rules"

        def _call(self, prompt: str, *_: Any, **__: Any) -> str:
            self.calls += 1
            return answered(prompt)

        def get_num_tokens_from_messages(self, messages: list[Any], *_: Any) -> int:
            # The original counts all remaining messages for each one that it drops: a count of
            # their texts would take hours at 10,000 messages.
            return TOKENS_PER_MESSAGE * len(messages)

    return RuleModel()
