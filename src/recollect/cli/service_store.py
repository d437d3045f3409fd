"""The default store of a service: one in the working directory, else in the user's data folder."""

from __future__ import annotations

from pathlib import Path

from recollect.cli.options import DEFAULT_STORE, Option, store_option
from recollect.cli.store_choice import store_file, user_store


def default_store() -> str:
    """Return the default store of a service."""
    own = user_store()
    if own is None or Path(DEFAULT_STORE).exists():
        return DEFAULT_STORE
    return str(own)


def service_store_option() -> Option:
    """Return the option that names the store of a service."""
    return store_option(
        "A file, as a path or sqlite: URL, or a server's.",
        default=default_store,
        shown=f"{DEFAULT_STORE} if it exists, else a file in your data folder",
    )


def make_folder(store: str) -> None:
    """Create the user's data folder, readable only by the user, if *store* is in it."""
    own = user_store()
    if own is not None and store_file(store) == own:
        own.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
