"""A talk with questions, and embedders that know its answers, do not, or fail."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

import numpy as np

from recollect.errors import EmbedderError
from recollect.ports import Vector
from recollect.recall.strength_sample import SampleQuestion
from recollect.records import NewMessage, Scope

ADA: Final[Scope] = ("users", "ada")
TALK: Final = "talk"
FACTS: Final = 40
_DIMENSIONS: Final = 64


def named(number: int, letters: str) -> str:
    """Return a word that stands for a number; words of other *letters* share nothing with it."""
    return "".join(letters[int(each)] for each in f"{number:03}") * 2


def said() -> list[NewMessage]:
    """Return facts that share no word with their questions, and talk that shares all but one."""
    facts = [
        NewMessage(role="user", text=f"{named(each, 'bcdfghjklm')} stands open", id=f"m{each}")
        for each in range(FACTS)
    ]
    others = [
        NewMessage(role="user", text=f"tell of matter {named(each, 'npqrstvwxz')}", id=f"n{each}")
        for each in range(FACTS, 4 * FACTS)
    ]
    return [*others, *facts]


def sample(count: int = FACTS) -> list[SampleQuestion]:
    """Return questions whose answers no word of them tells."""
    return [
        SampleQuestion(query=question(each), scope=ADA, messages=[f"m{each}"])
        for each in range(count)
    ]


def question(number: int) -> str:
    """Return the question that a fact answers."""
    return f"tell of matter {named(number, 'npqrstvwxz')}"


def wordy_sample(count: int = FACTS) -> list[SampleQuestion]:
    """Return questions that share words with their answers."""
    return [
        SampleQuestion(
            query=f"does {named(each, 'bcdfghjklm')} stand open", scope=ADA, messages=[f"m{each}"]
        )
        for each in range(count)
    ]


class JudgingEmbedder:
    """Embeds texts by chance, and facts near to their questions if it *knows*."""

    def __init__(
        self, *, knows: bool, noise: float = 0.9, strength: object = None, name: str = ""
    ) -> None:
        self.identity = f"judging/{name or knows}"
        self.dimensions = _DIMENSIONS
        self.strength = strength
        self.fails_after: int | None = None
        self._noise = noise
        self._answers = {}
        if knows:
            for each in range(FACTS):
                for text in (question(each), f"{named(each, 'bcdfghjklm')} stands open"):
                    self._answers[text] = each

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """Return one vector per text."""
        if self.fails_after is not None:
            self.fails_after -= 1
            if self.fails_after < 0:
                raise EmbedderError("the judge is asleep")
        return [self._vector(each) for each in texts]

    def _vector(self, text: str) -> Vector:
        vector = _direction(text) * self._noise
        if text in self._answers:
            vector = vector + _direction(f"fact {self._answers[text]}")
        return np.asarray(vector / np.linalg.norm(vector), np.float32)


def _direction(name: str) -> Vector:
    seed = int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")
    found = np.random.default_rng(seed).standard_normal(_DIMENSIONS)
    return np.asarray(found / np.linalg.norm(found), np.float32)
