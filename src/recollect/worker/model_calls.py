"""
Ask a model for the operations of a formation: one call, then repairs of faulty calls.

With a second reader, what is to be kept is read once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from anyio import to_thread

from recollect.formation.answer import ReadAnswer, read_answer
from recollect.formation.config import FormationSettings
from recollect.formation.formation_receipt import ModelExchange, ModelExchanges
from recollect.formation.grounding.grounds import Grounds, decide, grounds_of
from recollect.formation.offer import Offer
from recollect.formation.operation_outcomes import Grounded
from recollect.formation.operation_parts import parted
from recollect.formation.operations import Fault, Operation, same_operation
from recollect.formation.prompt import cut_request, first_request, repair_request
from recollect.formation.repairs import (
    UNASKED,
    FaultyCall,
    about,
    is_retry,
    lines_for,
    only_repairs,
    targets_of,
)
from recollect.formation.second_reader import SecondReading
from recollect.formation.second_reader_texts import texts_of_reading
from recollect.formation.support import HeardWindow
from recollect.formation.window import Window
from recollect.observability.spans import answer_of
from recollect.ports import Model, ModelAnswer, ModelRequest


class FormationDialogue:
    """
    The dialogue with a model about one window.

    *asked* holds the exchanges so far, even after an error of the model; *offer* is what was shown.
    """

    def __init__(
        self,
        model: Model,
        window: Window,
        offer: Offer,
        settings: FormationSettings,
        *,
        reader: Model | None = None,
    ) -> None:
        self._model = model
        self._reader = reader
        self._window = window
        self.offer = offer
        self._settings = settings
        self._wrong: list[FaultyCall] = []
        self._ids: set[str] = set()
        self._heard = HeardWindow(window, offer)
        self.asked = ModelExchanges(is_whole=False, prices=settings.prices)

    async def ask(self) -> ModelExchanges:
        """
        Ask, then ask for repairs of faulty calls; keep all valid calls that pass a second reading.

        Raises:
            ModelError: The model failed, or the second reader did.
        """
        # Parsing long texts is CPU-bound: run it on a thread so that the loop is not blocked.
        request = await to_thread.run_sync(first_request, self._window, self.offer)
        limits = self._settings.limits
        for repair in range(1 + limits.repairs):
            # The limit stops repairs only: the first request is always sent.
            if repair and self.asked.tokens >= limits.tokens_a_formation:
                break
            answer = await answer_of(self._model, request)
            reading = await to_thread.run_sync(self._take, request, answer)
            if not self._wrong:
                break
            request = await to_thread.run_sync(self._repair, request, answer, reading)
        await to_thread.run_sync(self._give_up)
        if self._reader is not None and self.asked.is_whole:
            await self._read_again(self._reader)
        return self.asked

    async def _read_again(self, reader: Model) -> None:
        """Hold back what the second reader does not call right."""
        reading = await to_thread.run_sync(SecondReading.of, self.asked.grounded, self._heard)
        if not reading.wholes:
            return
        own = self._settings.prompts.second_reading
        texts = texts_of_reading(self.offer.texts.language, own)
        request = reading.request(self._window, self.offer, texts)
        answer = await answer_of(reader, request)
        exchange = ModelExchange(request=request, answer=answer)
        self.asked = replace(
            self.asked,
            grounded=await to_thread.run_sync(reading.judged, answer),
            exchanges=(*self.asked.exchanges, exchange),
        )

    def _repair(
        self, request: ModelRequest, answer: ModelAnswer, reading: ReadAnswer
    ) -> ModelRequest:
        """Return a request that repairs the faulty calls, or all if the answer was incomplete."""
        faults = [fault for each in self._wrong for fault in each.faults]
        faulty = {each.call for each in faults}
        if not reading.is_whole or None in faulty:
            return repair_request(request, answer, reading.calls, faults, self.offer.texts)
        numbers = lines_for(self._wrong, reading.calls, self._window)
        targets = targets_of(self._wrong, self.offer)
        cut = cut_request(request, self._window, self.offer, numbers, targets)
        wrong = [call for call in reading.calls if call.id in faulty]
        return repair_request(cut, replace(answer, text=""), wrong, faults, self.offer.texts)

    def _take(self, request: ModelRequest, answer: ModelAnswer) -> ReadAnswer:
        """Add an answer to *asked*: keep its valid operations, and collect its faulty calls."""
        before = self.asked
        kept = [each.operation for each in before.grounded]
        reading = read_answer(answer, self.offer, kept=kept, taken=self._ids)
        self._ids |= {call.id for call in reading.calls}
        asked, unasked = reading.operations, list[Operation]()
        if self._wrong and answer.stopped == "end":
            repairs, unasked = only_repairs(asked, self._wrong, kept, self.offer)
            asked = tuple(repairs)
        good: list[Grounded] = []
        wrong = [FaultyCall(operation=None, faults=(each,)) for each in reading.faults]
        for read in asked:
            operation, grounds = decide(read, self._heard)
            if grounds.faults:
                wrong.append(FaultyCall(operation=operation, faults=grounds.faults))
            elif not any(same_operation(operation, each) for each in kept):
                good.append(Grounded(operation=operation, grounds=grounds))
        tried = [about(each.operation) for each in good] + [each.about for each in wrong]
        good = [part for each in good for part in parted(each, self._heard)]
        left = _unrepaired(self._wrong, tried)
        self._wrong = wrong if reading.is_whole else [*left, *wrong]
        self.asked = replace(
            before,
            grounded=(*before.grounded, *good),
            refused=(
                *before.refused,
                *(_refused(left) if reading.is_whole else ()),
                *((each, Fault(call=each.call, kind="call", reason=UNASKED)) for each in unasked),
            ),
            exchanges=(*before.exchanges, ModelExchange(request=request, answer=answer)),
            is_whole=before.is_whole or reading.is_whole,
            failure="" if reading.is_whole else "; ".join(each.reason for each in reading.faults),
        )
        return reading

    def _give_up(self) -> None:
        """Close the calls that are still faulty: quarantine doubtful ones, refuse the others."""
        doubtful: list[Grounded] = []
        for each in self._wrong:
            if each.operation is not None and each.is_doubtful:
                reasons = tuple(fault.reason for fault in each.faults)
                grounds = grounds_of(each.operation, self._heard)
                grounds = Grounds(doubts=(*grounds.doubts, *reasons), trust=grounds.trust)
                doubtful.append(Grounded(operation=each.operation, grounds=grounds))
        refused = _refused([each for each in self._wrong if not each.is_doubtful])
        self._wrong = []
        self.asked = replace(
            self.asked,
            grounded=(*self.asked.grounded, *doubtful),
            refused=(*self.asked.refused, *refused),
        )


def _refused(wrong: Sequence[FaultyCall]) -> list[tuple[Operation | None, Fault]]:
    return [(each.operation, fault) for each in wrong for fault in each.faults]


def _unrepaired(
    wrong: Sequence[FaultyCall], tried: Sequence[tuple[str | None, str | None]]
) -> list[FaultyCall]:
    """Return the faulty calls that the model did not repeat; each try counts for one call."""
    left = list(tried)
    found: list[FaultyCall] = []
    for each in wrong:
        if each.faults[0].kind == "answer":
            continue  # a fault of the whole answer, not of a call that could be repeated
        again = next((other for other in left if is_retry(each.about, other)), None)
        if again is None:
            found.append(each)
        else:
            left.remove(again)
    return found
