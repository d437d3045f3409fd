"""Open the model and the memory of a command that forms memories."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recollect.cli.formation_config import DEFAULT, FormationOptions, read_file
from recollect.cli.options import Target
from recollect.cli.store_choice import check_exists
from recollect.errors import ModelError, UsageError

if TYPE_CHECKING:
    from recollect.memory.facade import Recollect
    from recollect.ports import Model, ModelAnswer, ModelRequest, ToolCall
    from recollect.worker.worker_options import FormationCallback

_SCRIPT_KEYS: Final = ("answers", "formations")


def opened_model(forming: FormationOptions) -> Model | None:
    """
    Return the requested model, ``None`` if none was requested; it is not called yet.

    Raises:
        NotFoundError: The script does not exist.
        UsageError: The name is not that of a model.
        MissingExtraError: A package that the model needs is not installed.
        ModelError: The model cannot be used, for example without its key.
    """
    from recollect.formation.config import DEFAULT_MODEL
    from recollect.models import Replay, open_model
    from recollect.models.model_choice import RULES

    choice = forming.model
    if choice is None:
        return None
    if choice == RULES:  # ignore the base URL, which is for models
        return open_model(RULES)
    if choice.endswith(".json"):
        return _scripted(Path(choice))
    if choice.endswith(".jsonl"):
        return Replay(choice)
    return open_model(DEFAULT_MODEL if choice == DEFAULT else choice, base_url=forming.base_url)


def _scripted(path: Path) -> Model:
    """Return a model that replays the answers and formations in a file, in order."""
    from recollect.testing.scripted_model import ScriptedModel

    read = read_file(path)
    parts: dict[str, Iterator[object]] = {}
    for name in _SCRIPT_KEYS:
        listed = read.get(name, [])
        if not isinstance(listed, list):
            raise UsageError(f"{path}: {name}: is a list, not {listed!r}")
        parts[name] = iter(listed)

    def answer(request: ModelRequest) -> ModelAnswer | str | list[ToolCall]:
        name = _SCRIPT_KEYS[request.must_call]
        said = next(parts[name], None)
        if said is None:
            raise ModelError(f"{path}: {name}: is used up: write one more")
        return str(said) if name == "answers" else [_call(each, path) for each in _listed(said)]

    return ScriptedModel(answer, identity=f"script/{path.name}")


def _listed(said: object) -> list[object]:
    return said if isinstance(said, list) else [said]


def _call(said: object, path: Path) -> ToolCall:
    from recollect.ports import ToolCall

    if not isinstance(said, Mapping) or not isinstance(said.get("name"), str):
        msg = f'{path}: formations: a call is {{"name": …, "arguments": {{…}}}}, not {said!r}'
        raise ModelError(msg)
    return ToolCall(name=said["name"], arguments=said.get("arguments", {}))


@asynccontextmanager
async def opened_to_form(
    target: Target,
    forming: FormationOptions,
    model: Model | None,
    *,
    create: bool = False,
    worker: bool,
    concurrency: int | None = None,
    notice: FormationCallback | None = None,
) -> AsyncIterator[Recollect]:
    """
    Open the memory of *target*, formed by *model* with the settings of *forming*.

    *concurrency* and *notice* are for its worker; see `recollect.open`.

    Raises:
        NotFoundError: The store does not exist, and *create* is False.
    """
    import recollect
    from recollect.worker.worker_options import CONCURRENCY, tell_nobody

    if not create:
        check_exists(target.store, "`recollect chat` or `recollect import FILE`")
    async with recollect.open(
        target.store,
        embedder=target.embedder,
        rerank=target.rerank,
        index_files=target.index_files,
        replicas=target.replicas,
        model=model,
        formation=forming.assistants,
        worker=worker,
        concurrency=CONCURRENCY if concurrency is None else concurrency,
        notice=notice or tell_nobody,
    ) as memory:
        yield memory
