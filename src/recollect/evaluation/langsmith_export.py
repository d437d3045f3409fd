"""Export cases and their runs to a LangSmith dataset, with the user's own key."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from recollect.errors import MissingExtraError, RecollectError, UsageError
from recollect.evaluation.cases import EvaluationCase, Expectation
from recollect.evaluation.measures import Measured
from recollect.records import Json

EXTRA: Final = "langsmith"

Row = dict[str, Json]


class DatasetClient(Protocol):
    """The methods of LangSmith's client that the export uses."""

    def has_dataset(self, *, dataset_name: str) -> bool:
        """Return True if there is a dataset of this name."""
        ...

    def create_dataset(self, dataset_name: str, *, description: str) -> object:
        """Create a dataset."""
        ...

    def create_examples(
        self, *, dataset_name: str, examples: Sequence[Mapping[str, Json]]
    ) -> object:
        """Add rows to a dataset."""
        ...


def dataset_rows(measured: Sequence[Measured]) -> list[Row]:
    """
    Return one row per case, of plain JSON.

    Conversations are its inputs, expectations its reference outputs, figures and problems its
    metadata.
    """
    return [_row(each) for each in measured]


def _row(measured: Measured) -> Row:
    case = measured.case
    return {
        "inputs": {
            "memories": [{"type": m.type, "value": m.value} for m in case.memories],
            "talks": _talks(case),
            "types": [each.as_config() for each in case.types],
        },
        "reference_outputs": {
            kind: [_expected(each) for each in case.expectations if each.kind == kind]
            for kind in ("must", "may", "must_not")
        },
        "metadata": {
            "case": case.name,
            "language": case.language,
            "tags": list(case.tags),
            "recall": measured.figures.recall,
            "precision": measured.figures.precision,
            "problems": list(measured.problems),
        },
    }


def _talks(case: EvaluationCase) -> list[Json]:
    return [
        {
            "thread": talk.thread,
            "messages": [
                {
                    "role": each.role,
                    "name": each.name,
                    "time": each.time.isoformat() if each.time else None,
                    "content": each.text,
                }
                for each in talk.messages
            ],
        }
        for talk in case.talks
    ]


def _expected(expectation: Expectation) -> Row:
    found: Row = {"type": expectation.type, "about": str(expectation)}
    if expectation.path:
        found["path"] = expectation.path
    if expectation.where:
        found["where"] = expectation.where
    for name in ("equals", "contains"):
        if values := getattr(expectation, name):
            found[name] = list(values)
    return found


def send_rows(rows: Sequence[Row], dataset: str, client: DatasetClient) -> int:
    """Add *rows* to a dataset, created if necessary; return how many."""
    if not client.has_dataset(dataset_name=dataset):
        client.create_dataset(dataset, description="Cases of recollect eval")
    client.create_examples(dataset_name=dataset, examples=rows)
    return len(rows)


def export(rows: Sequence[Row], dataset: str) -> int:
    """
    Send *rows* to a LangSmith dataset, with the key in the environment.

    Raises:
        MissingExtraError: LangSmith's package is not installed.
        UsageError: There is no key.
        RecollectError: LangSmith refused the rows, or is unreachable.
    """
    try:
        from langsmith import Client  # noqa: PLC0415 (an optional package)
        from langsmith.utils import LangSmithError  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise MissingExtraError(EXTRA, error.name or EXTRA) from error
    key = _from_environment("API_KEY")
    if key is None:
        raise UsageError("LangSmith needs your API key: set LANGSMITH_API_KEY in the environment")
    client: DatasetClient = Client(
        api_url=_from_environment("ENDPOINT"), api_key=key, auto_batch_tracing=False
    )
    try:
        return send_rows(rows, dataset, client)
    except (LangSmithError, OSError) as error:
        # The client's errors may quote the key, and are not chained for the same reason.
        msg = f"LangSmith did not take the rows: {str(error).replace(key, '***')[:500]}"
        raise RecollectError(msg) from None


def _from_environment(name: str) -> str | None:
    """Return a setting of LangSmith, under its current or its former name."""
    return os.environ.get(f"LANGSMITH_{name}") or os.environ.get(f"LANGCHAIN_{name}")
