"""Reads the file in which people keep their keys."""

import os
from pathlib import Path

from recollect.errors import MissingExtraError, UsageError

EXTRA = "langchain"


def load_environment(path: str | Path = ".env") -> tuple[str, ...]:
    """
    Put the variables of the file *path* into this process's environment, if it exists.

    A variable that is set already keeps its value. No parent folder is searched, and no
    value is returned, printed or logged.

    Returns:
        The names that were set, in the file's order.

    Raises:
        MissingExtraError: The file exists and ``python-dotenv`` is not installed.
        UsageError: It cannot be read, or is no UTF-8 text.
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
        # The decoder's error would quote the line, which may hold a key.
        message = f"{str(path)!r} cannot be read ({type(error).__name__}): save it as UTF-8 text"
        raise UsageError(message) from None
    found = {
        name: value
        for name, value in values.items()
        if value is not None and name not in os.environ
    }
    os.environ.update(found)
    return tuple(found)
