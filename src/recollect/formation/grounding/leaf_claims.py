"""Check the claims of single leaves: each is a fault, a remark or a mere note."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from recollect.formation.grounding.abbreviations import known_alias, possible_short_form
from recollect.formation.operations import Citation, Fault
from recollect.formation.support.cited_passages import Passage
from recollect.formation.support.heard_window import HeardWindow
from recollect.formation.support.leaves import is_label
from recollect.formation.support.voices import Voice
from recollect.records import Json

_NAME: Final = "the name "
_DATE: Final = "the date "
_NUMBER: Final = "the number "


class LeafClaims:
    """
    The claims of the leaves of one call, checked one leaf after the other.

    *remarks* and *notes* are those of all leaves so far: names, numbers and dates that the model
    added, names whose short form was said. Unless the call *may_remark*, what it adds is a fault.
    """

    def __init__(self, call: str, heard: HeardWindow, *, may_remark: bool) -> None:
        self.call = call
        self.heard = heard
        self.may_remark = may_remark
        self.remarks: list[str] = []
        self.notes: list[str] = []

    def faults_of(
        self, pointer: str, leaf: Json, cited: Sequence[Citation], before: Json = None
    ) -> list[Fault]:
        """Return a fault for each number, name and date of *leaf* that was not said."""
        passages = self.heard.passages(cited)
        voices = self.heard.voices_of(passages)
        if is_label(pointer):  # "at nine weeks" may be told anywhere in the talk
            voices = [*voices, *(each for each in self.heard.voices if each.trust == "user")]
        missing = self.heard.lacks(voices, leaf, before, is_label=is_label(pointer))
        numbers = ", ".join(dict.fromkeys(str(each.line.number) for each in passages))
        unsaid = [each for each in missing if not self._is_other_form(each, voices)]
        added = self._additions(unsaid, leaf, passages)
        self.remarks += [f"{pointer or '/'}: {each} was not said" for each in added]
        return [
            Fault(
                call=self.call,
                kind="claim",
                reason=f"{pointer or '/'}: {each} is not in message {numbers}",
            )
            for each in unsaid
            if each not in added
        ]

    def _additions(
        self, missing: Sequence[str], leaf: Json, passages: Sequence[Passage]
    ) -> list[str]:
        """
        Return those of *missing* that a good model may have added itself.

        A missing name is in no message of the window, so nobody's words planted it. A date counts
        as well: people tell dates in more ways than rules can read ("on our hundredth day"). But
        neither does that stands in place of another that the cited sentences tell, as a wrong one
        mostly does. A number never does, and who adds a name and a date to one text invents.
        """
        if not self.may_remark or not isinstance(leaf, str):
            return []
        names = [each for each in missing if each.startswith(_NAME)]
        dates = [each for each in missing if each.startswith(_DATE)]
        has_number = any(each.startswith(_NUMBER) for each in missing)
        if names and (dates or has_number or self.heard.replaces_name(passages, leaf, names)):
            return []
        if dates and self.heard.replaces_date(passages, leaf):
            dates = []
        return [*names, *dates]

    def _is_other_form(self, missing: str, voices: Sequence[Voice]) -> bool:
        """Return True for a name of which another form was said; tell which."""
        if not missing.startswith(_NAME):
            return False
        name = missing.removeprefix(_NAME).strip("'\"")
        texts = [each.text for each in voices]
        if said := known_alias(name, texts):
            self.notes.append(f"{name!r} is taken for {said!r}, which was said")
        elif said := possible_short_form(name, texts):
            self.remarks.append(f"{name!r} may or may not be {said!r}, which was said")
        return bool(said)
