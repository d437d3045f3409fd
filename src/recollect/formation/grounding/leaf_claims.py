"""The claims of single leaves of a value: which are faults, which are doubts or mere notes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from recollect.formation.grounding.abbreviations import known_alias, possible_short_form
from recollect.formation.operations import Citation, Fault
from recollect.formation.support.heard_window import HeardWindow
from recollect.formation.support.leaves import is_label
from recollect.formation.support.voices import Voice
from recollect.records import Json

_NAME: Final = "the name "


class LeafClaims:
    """
    The claims of the leaves of one call, checked one leaf after the other.

    *doubts* and *notes* are those of all leaves so far: names whose short form was said.
    """

    def __init__(self, call: str, heard: HeardWindow) -> None:
        self.call = call
        self.heard = heard
        self.doubts: list[str] = []
        self.notes: list[str] = []

    def faults_of(
        self, pointer: str, leaf: Json, cited: Sequence[Citation], before: Json = None
    ) -> list[Fault]:
        """Return a fault for each number, name and date of *leaf* that was not said."""
        passages = self.heard.passages(cited)
        voices = self.heard.voices_of(passages)
        missing = self.heard.lacks(voices, leaf, before, is_label=is_label(pointer))
        numbers = ", ".join(dict.fromkeys(str(each.line.number) for each in passages))
        return [
            Fault(
                call=self.call,
                kind="claim",
                reason=f"{pointer or '/'}: {each} is not in message {numbers}",
            )
            for each in missing
            if not self._is_other_form(each, voices)
        ]

    def _is_other_form(self, missing: str, voices: Sequence[Voice]) -> bool:
        """Return True for a name of which another form was said; tell which."""
        if not missing.startswith(_NAME):
            return False
        name = missing.removeprefix(_NAME).strip("'\"")
        texts = [each.text for each in voices]
        if said := known_alias(name, texts):
            self.notes.append(f"{name!r} is taken for {said!r}, which was said")
        elif said := possible_short_form(name, texts):
            self.doubts.append(f"{name!r} may or may not be {said!r}, which was said")
        return bool(said)
