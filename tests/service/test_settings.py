"""Settings are read from file, environment and flags, and refused where they are not safe."""

from typing import Any

import pytest

from recollect.errors import UsageError
from recollect.server import Settings, read_settings

GOOD_SECRET = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0xL"


def test_a_flag_goes_before_the_environment_and_that_before_the_file() -> None:
    """Each place may set each setting; the nearest one counts."""
    file = {"port": 1, "host": "127.0.0.2", "burst": 5}
    environment = {"RECOLLECT_PORT": "2", "RECOLLECT_HOST": "127.0.0.3"}

    found = read_settings({"port": 3, "host": None}, file=file, environment=environment)

    assert (3, "127.0.0.3", 5) == (found.port, found.host, found.burst)


def test_lists_are_parted_by_commas() -> None:
    """In the environment names are parted by commas, and a scope's segments by slashes."""
    environment = {"RECOLLECT_HOSTS": "a.example, b.example", "RECOLLECT_SCOPE": "acme/users"}

    found = read_settings(environment=environment)

    assert (("a.example", "b.example"), ("acme", "users")) == (found.hosts, found.scope)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"host": "0.0.0.0", "auth": False}, "open to other machines"),  # noqa: S104
        ({"host": "::", "auth": False}, "open to other machines"),
        ({"host": "memory.example.org", "auth": "no"}, "open to other machines"),
        ({"secret": "short"}, "too weak"),
        ({"secret": "a" * 64}, "too weak"),
        ({"origins": ["*"], "credentials": True}, "every web page"),
        ({"origins": ["example.org"]}, "is not an origin"),
        ({"origins": ["https://example.org/path"]}, "is not an origin"),
        ({"hosts": ["https://example.org"]}, "is not a host name"),
        ({"scope": ["recollect:service"]}, "reserved for the service"),
        ({"scope": []}, "at least one segment"),
        ({"port": 70_000}, "from 0 to 65535"),
        ({"port": "x"}, "a whole number"),
        ({"burst": 1.5}, "a whole number"),
        ({"request_timeout_s": 0}, "a number from"),
        ({"auth": "perhaps"}, "cannot be"),
        ({"colour": "red"}, "has no setting"),
        (
            {"connections_max": 10, "connections_reserved": 10},
            "leaves no connection for requests without a key",
        ),
        ({"proxies": ["proxy.example"]}, "is not an address or network"),
    ],
)
def test_settings_that_are_not_safe_are_refused(given: dict[str, Any], reason: str) -> None:
    """An open door, a weak secret, a wildcard with credentials: one sentence says why."""
    with pytest.raises(UsageError, match=reason) as error:
        read_settings(file=given, environment={})

    assert "short" not in str(error.value)


@pytest.mark.parametrize(
    "given",
    [
        {"host": "127.0.0.1", "auth": False},
        {"host": "localhost", "auth": False},
        {"host": "::1", "auth": False},
        {"host": "0.0.0.0"},  # noqa: S104
        {"secret": GOOD_SECRET},
        {"origins": ["*"]},
        {"origins": ["https://example.org:8443"], "credentials": True},
        {"hosts": ["*"]},
        {"connections_reserved": 0, "proxies": ["10.0.0.0/8", "::1"]},
    ],
)
def test_safe_settings_are_taken(given: dict[str, Any]) -> None:
    """What only looks like one of them is allowed."""
    assert isinstance(read_settings(file=given, environment={}), Settings)


def test_a_secret_is_not_shown() -> None:
    """The secret stands in no representation of the settings."""
    assert GOOD_SECRET not in repr(Settings(secret=GOOD_SECRET))


def test_only_this_machine_is_asked_under_its_names() -> None:
    """On loopback the Host is this machine's; an open address needs keys, and takes any."""
    assert "localhost" in Settings().allowed_hosts
    assert ("*",) == Settings(host="0.0.0.0").allowed_hosts  # noqa: S104
    assert ("a",) == Settings(hosts=("a",)).allowed_hosts
