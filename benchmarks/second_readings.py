"""Answer second readings as readers in a model's place did, each line by its own verdict."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from recollect.formation.second_reader import JUDGE
from recollect.ports import ModelRequest, ToolCall

READINGS: Final = "second_readings"
_LINE: Final = re.compile(r"^(\d+) (\{.*\})$", re.MULTILINE)
SecondReader: TypeAlias = Callable[[ModelRequest], Sequence[ToolCall]]


def is_reading(request: ModelRequest) -> bool:
    """Return True if a request asks for verdicts."""
    return bool(request.tools) and request.tools[0].name == JUDGE


def lines_read(request: ModelRequest) -> dict[int, str]:
    """Return the lines that a request wants judged, by their numbers."""
    return {int(found[1]): found[2] for found in _LINE.finditer(request.turns[0].text)}


def said_in(line: str) -> str:
    """Return what a line says, without the numbers of messages, some of which rules add."""
    said = json.loads(line)
    return json.dumps({**said, "because": None}, ensure_ascii=False, sort_keys=True)


def reader_of(rows: Sequence[Mapping[str, object]], case: str) -> SecondReader:
    """Return a reader that knows the verdicts of one case; of other lines it says nothing."""
    known = {said_in(str(row["line"])): row for row in rows if row["case"] == case}

    def read(request: ModelRequest) -> Sequence[ToolCall]:
        verdicts = [
            {"number": number, "right": row["right"], "wrong": row["wrong"]}
            for number, line in lines_read(request).items()
            if (row := known.get(said_in(line))) is not None
        ]
        arguments = json.dumps({"verdicts": verdicts}, ensure_ascii=False)
        return [ToolCall(name=JUDGE, arguments=arguments)]

    return read
