"""The id of a store, by which a client keeps apart what it holds of several."""

from pathlib import Path

import httpx

from recollect.server.testing import serving


def store_id(path: Path, secret: str) -> str:
    """Return the id that a service over a store gives."""
    with serving(store=str(path), secret=secret, auth=False) as served:
        answer = httpx.get(f"{served.url}/v1/me")
    return str(answer.json()["store"])


def test_a_store_keeps_its_id_and_shares_it_with_no_other(tmp_path: Path) -> None:
    """A restart keeps it, whatever secret is configured; another store has another one."""
    first, again, other = (
        store_id(tmp_path / f"{name}.db", secret)
        for name, secret in (
            ("one", "one secret of 32 characters or more"),
            ("one", "the other of 32 characters or more"),
            ("two", "one secret of 32 characters or more"),
        )
    )

    assert first == again
    assert first != other
