"""Load keys and other variables from a ``.env`` file."""

import os
from pathlib import Path

from recollect.errors import MissingExtraError, UsageError

EXTRA = "dotenv"


def load_environment(path: str | Path = ".env") -> tuple[str, ...]:
    """
    Load the variables of the file *path* into the environment, if it exists.

    Variables already set keep their value. Parent folders are not searched, and no value is
    returned, printed or logged.

    Returns:
        The names that were set, in the file's order.

    Raises:
        MissingExtraError: The file exists and ``python-dotenv`` is not installed.
        UsageError: The file cannot be read, or is not UTF-8.
    """
    path = Path(path)
    if not path.is_file():
        return ()
    try:
        from dotenv import dotenv_values
    except ModuleNotFoundError as error:
        raise MissingExtraError(EXTRA, "python-dotenv") from error
    try:
        values = dotenv_values(path, encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        # Without the cause: the decoder's error quotes the line, which may hold a key.
        message = f"{str(path)!r} cannot be read ({type(error).__name__}): save it as UTF-8 text"
        raise UsageError(message) from None
    found = {
        name: value
        for name, value in values.items()
        if value is not None and name not in os.environ
    }
    os.environ.update(found)
    return tuple(found)
