"""What every test gets: one event loop, no network beyond this machine, no telemetry."""

import inspect
import ipaddress
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import settings

from recollect.testing import FrozenClock
from tests.harness.loop_guard import guarded_loops
from tests.harness.redis_server import open_server
from tests.harness.suite_parts import holds_no_part, is_slow, order_modules
from tests.harness.tls_trust import share_trusted_certificates

# Set before any test imports langchain-core, whose tracing would call home.
os.environ["LANGSMITH_TRACING"] = "false"
os.environ["LANGCHAIN_TRACING_V2"] = "false"

# A deadline would make the result depend on how busy the machine is.
settings.register_profile("recollect", deadline=None, print_blob=True)
settings.load_profile("recollect")

# The audit events of the socket module that reach out, and where each carries its address.
_ADDRESS_AT = {
    "socket.connect": 1,
    "socket.sendto": 1,
    "socket.sendmsg": 1,
    "socket.getaddrinfo": 0,
    "socket.gethostbyname": 0,
}
_refused: list[str] = []


class NetworkForbiddenError(RuntimeError):
    """A test reached for another machine."""


def is_loopback(address: object) -> bool:
    """Return True if *address*, as the socket module has it, stays on this machine."""
    host = address[0] if isinstance(address, tuple) and address else address
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if not isinstance(host, str) or host in ("", "localhost"):
        return True
    if isinstance(address, tuple) or not host.startswith(("/", "\0")):
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False
    return True  # the path of a Unix socket


def _refuse_other_machines(
    event: str,
    arguments: tuple[object, ...],
    # Bound here, because the hook still runs after the interpreter has cleared this module.
    address_at: Mapping[str, int] = _ADDRESS_AT,
) -> None:
    at = address_at.get(event)
    if at is None or is_loopback(arguments[at]):
        return
    _refused.append(f"{event} {arguments[at]!r}")
    msg = f"a test reached for {arguments[at]!r}: only this machine's loopback is allowed"
    raise NetworkForbiddenError(msg)


def forbid_network() -> None:
    """Refuse, until this process ends, every connection and name look-up beyond loopback."""
    # An audit hook, because it also sees what was bound to a name before it was set.
    sys.addaudithook(_refuse_other_machines)


PROVE_S_MAX = 4 * 3_600
"""How long a test that proves may take; of the others each has its limit in the settings."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no module of which ``-m`` selects nothing."""
    return holds_no_part(collection_path, config.option.markexpr) or None


# Outside of what shuffles the tests, whose order within a module stays.
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Iterator[None]:
    """Mark what is slow; give what proves at full count the time that it needs."""
    for item in items:
        if is_slow(item.path):
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("prove") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(PROVE_S_MAX))
    yield
    if hasattr(config, "workerinput"):
        order_modules(items)


def pytest_configure() -> None:
    """Close the network, and share what clients load, before a test module is imported."""
    forbid_network()
    share_trusted_certificates()


@pytest.fixture(autouse=True)
def refused_connections() -> Iterator[list[str]]:
    """Fail the test that reached for another machine, even where the refusal was swallowed."""
    yield _refused
    refused = list(_refused)
    _refused.clear()
    assert refused == []


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run async tests on asyncio alone: the drivers know no other loop."""
    return "asyncio"


@pytest.fixture
def clock() -> FrozenClock:
    """Return a clock that only the test moves."""
    return FrozenClock()


@pytest.fixture(scope="module")
def redis_socket() -> Iterator[str]:
    """Yield the socket of a Redis server of this module's own, which keeps nothing on the disk."""
    with open_server(appendonly="no") as server:
        yield str(server.socket)


@pytest.fixture(autouse=True)
def blocking_calls(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail the asynchronous test in which a call of ours stopped an event loop."""
    if not inspect.iscoroutinefunction(getattr(request, "function", None)):
        yield
        return
    with guarded_loops(Path(__file__).parent) as found:
        yield
    assert not found, "\n".join(sorted({str(each) for each in found}))
