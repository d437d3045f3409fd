"""Read a labelled sample for `Recollect.tune` from JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from recollect.errors import LimitError, UsageError
from recollect.importers.import_entries import Refused
from recollect.importers.input_files import InputLine, open_source, read_first, read_lines
from recollect.importers.json_stream import NESTED
from recollect.recall.strength_sample import SAMPLE_QUESTIONS_MAX, SampleQuestion, sample_question
from recollect.records import Scope


def load_sample(path: str | Path, *, scope: Scope | None = None) -> list[SampleQuestion]:
    """
    Return the questions of a file of JSON Lines, plain or compressed; ``-`` is standard input.

    A row has "query", "messages" or "memories", and optionally "scope", "thread", "asked_at"; see
    `SampleQuestion`. *scope* is the default for rows without one.

    Raises:
        NotFoundError: There is no such file.
        UsageError: It cannot be read, or a row is invalid; the error names the line.
        LimitError: It has more than ``SAMPLE_QUESTIONS_MAX`` rows.
    """
    found: list[SampleQuestion] = []
    with open_source(str(path)) as source:
        for row, place in _rows(read_lines(source.stream, read_first(source.stream))):
            if len(found) == SAMPLE_QUESTIONS_MAX:
                what, name = "questions of the sample, at least", "SAMPLE_QUESTIONS_MAX"
                raise LimitError(what, len(found) + 1, SAMPLE_QUESTIONS_MAX, name)
            given = row if scope is None or "scope" in row else {**row, "scope": scope}
            found.append(sample_question(given, place))
    return found


def _rows(lines: Iterator[InputLine | Refused]) -> Iterator[tuple[Mapping[str, object], str]]:
    for line in lines:
        if isinstance(line, Refused):
            raise UsageError(f"the sample, {line.place}: {line.reason}")
        yield _row(line), line.place


def _row(line: InputLine) -> Mapping[str, object]:
    try:
        row = json.loads(line.content.decode("utf-8-sig"))
    except RecursionError as error:
        raise UsageError(f"the sample, {line.place}: {NESTED}") from error
    except ValueError as error:
        raise UsageError(f"the sample, {line.place}: it is not JSON ({error})") from error
    if not isinstance(row, dict):
        raise UsageError(f"the sample, {line.place}: it is not a JSON object with a query")
    return row
