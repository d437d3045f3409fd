"""A change that another writer overtook is made again, so many times."""

from collections.abc import Iterator

import pytest

from recollect.errors import UsageError, VersionConflictError
from recollect.memory.conflict_retries import TRIES_MAX, retried


class Overtaken:
    """A change that fails with each of *errors*, then succeeds."""

    def __init__(self, *errors: Exception) -> None:
        self.tries = 0
        self._errors: Iterator[Exception] = iter(errors)

    async def __call__(self) -> int:
        self.tries += 1
        if error := next(self._errors, None):
            raise error
        return self.tries


def conflict() -> VersionConflictError:
    """Return the error of a change that came second."""
    return VersionConflictError("Note/n", 1, 2)


async def test_the_last_try_may_succeed() -> None:
    """One try fewer than allowed was overtaken."""
    assert await retried(Overtaken(*(conflict() for _ in range(TRIES_MAX - 1)))) == TRIES_MAX


async def test_a_change_that_always_loses_gives_up() -> None:
    """The error of the last try is the caller's."""
    change = Overtaken(*(conflict() for _ in range(9)))

    with pytest.raises(VersionConflictError):
        await retried(change, 8)

    assert change.tries == 8


async def test_another_error_is_not_retried() -> None:
    """Only a conflict of versions may go away by itself."""
    change = Overtaken(UsageError("no"))

    with pytest.raises(UsageError):
        await retried(change)

    assert change.tries == 1
