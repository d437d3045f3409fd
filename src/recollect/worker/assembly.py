"""Assemble a worker from its search, its models and its former."""

from __future__ import annotations

import os
from collections.abc import Sequence

from recollect.errors import UsageError
from recollect.formation.config import Assistants
from recollect.models import ModelChoice, open_model
from recollect.ports import Model, TokenCounter
from recollect.recall.query import RecallQuery, Where
from recollect.recall.recaller import Recaller
from recollect.records import Memory, Scope
from recollect.stores.contract.base import Store
from recollect.worker.former import Former, Search
from recollect.worker.loop import Worker
from recollect.worker.worker_options import CONCURRENCY, FormationCallback, tell_nobody


def open_worker(
    store: Store,
    recaller: Recaller,
    model: ModelChoice | None,
    assistants: Assistants,
    *,
    count_tokens: TokenCounter,
    notice: FormationCallback = tell_nobody,
    concurrency: int = CONCURRENCY,
) -> Worker:
    """
    Return a worker over *store* that forms due threads with *model*.

    Raises:
        UsageError: The model, a type, a schedule or the concurrency is invalid.
        MissingExtraError: A package that the model needs is not installed.
    """
    former = Former(
        store,
        search_of(recaller),
        Models(model),
        assistants,
        count_tokens=count_tokens,
    )
    name = f"worker {os.getpid()}"
    return Worker(store, former, assistants, name=name, concurrency=concurrency, notice=notice)


class Models:
    """The models in use, each opened once: the default one, and those named in settings."""

    def __init__(self, own: ModelChoice | None) -> None:
        self._own = None if own is None else open_model(own)
        self._named: dict[str, Model] = {}

    def __call__(self, name: str | None) -> Model:
        """
        Return the model *name*, the worker's default for ``None``.

        Raises:
            UsageError: *name* is not a valid model name, or there is no default model.
        """
        if name is None:
            if self._own is None:
                msg = "no model is configured: give one as 'provider/model', or as an object"
                raise UsageError(msg)
            return self._own
        if name not in self._named:
            self._named[name] = open_model(name)
        return self._named[name]


def search_of(recaller: Recaller) -> Search:
    """Return a search for the existing memories of a formation, by *recaller*."""

    async def search(scope: Scope, query: str, types: Sequence[str], limit: int) -> list[Memory]:
        where = Where(messages=False, types=types)
        ask = RecallQuery(
            query=query,
            limit=limit,
            budget_tokens=None,
            where=where,
            asked_at=None,
            is_reranked=False,
        )
        found = await recaller.recall([scope], ask)
        return [each.content for each in found.entries if isinstance(each.content, Memory)]

    return search
