"""The trusted certificates that the HTTP clients of the tests share."""

import ssl

import pytest

httpx_transports = pytest.importorskip("httpx._transports.default")


def test_clients_share_the_trusted_certificates() -> None:
    """A client that loaded its own would take 40 ms."""
    create = httpx_transports.create_ssl_context

    assert create() is create(verify=True)
    assert create().verify_mode is ssl.CERT_REQUIRED


def test_a_client_that_trusts_otherwise_has_its_own() -> None:
    """One that verifies nothing changes nothing for the others."""
    create = httpx_transports.create_ssl_context

    assert create(verify=False) is not create()
    assert create(verify=False).verify_mode is ssl.CERT_NONE
    assert create(verify=(own := ssl.create_default_context())) is own
