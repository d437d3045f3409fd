"""The ids of a store are random, unique on all threads, and not shared with a fork."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from unittest.mock import patch
from uuid import RFC_4122, UUID

from recollect.stores.system_clock import SystemIds

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def test_a_name_is_a_uuid_of_version_7() -> None:
    """Its first 48 bits are milliseconds, so that names sort by time."""
    found = SystemIds().name(NOW)

    assert str(UUID(found)) == found
    assert (7, RFC_4122) == (UUID(found).version, UUID(found).variant)
    assert int(NOW.timestamp() * 1_000) == UUID(found).int >> 80


def test_an_id_has_63_bits_and_is_not_zero() -> None:
    """Zero bits from the system still make an id."""
    ids = SystemIds()
    found = [ids.entry_id() for _ in range(2_000)]
    with patch("os.urandom", bytes):
        zero = SystemIds().entry_id()

    assert all(0 < each < 2**63 for each in found)
    assert max(found) > 2**62
    assert 1 == zero


def test_no_two_calls_get_the_same_bits() -> None:
    """On four threads at once."""
    ids = SystemIds()

    def take(_: int) -> list[int]:
        return [ids.entry_id() for _ in range(5_000)]

    with ThreadPoolExecutor(4) as pool:
        found = [each for part in pool.map(take, range(4)) for each in part]

    assert len(found) == len(set(found))


def test_a_fork_does_not_use_what_its_parent_has_ready() -> None:
    """The control: in the same process the bits that are ready are used."""
    ids = SystemIds()
    ids.entry_id()
    ready = ids._bits._ready[-2:]
    same = ids.entry_id()
    with patch("os.getpid", lambda: -1):
        other = ids.entry_id()

    assert same == ready[1] >> 17
    assert other != ready[0] >> 17
