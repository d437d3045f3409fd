"""Keys are kept as digests, bound to a scope, and decide in one place who may do what."""

import random
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from recollect.errors import ForbiddenError, QuotaError, UnknownKeyError, UsageError
from recollect.server.api_keys import Keys
from recollect.server.authorization import PERMISSIONS, Permission, Principal, granted, relative
from recollect.server.http.signed_tokens import Signer
from recollect.server.quotas import Rates
from recollect.side_records import KEYS_SCOPE
from recollect.stores.contract.base import Store
from recollect.stores.locator import open_store
from recollect.testing import FrozenClock


@pytest.fixture
async def store(clock: FrozenClock) -> AsyncIterator[Store]:
    async with open_store("memory:", clock=clock) as found:
        yield found


def principal(*permissions: Permission) -> Principal:
    """Return a principal bound to acme."""
    return Principal(
        key_id="k", name="n", scope=("acme",), permissions=frozenset(permissions or PERMISSIONS)
    )


def test_a_request_only_adds_segments_to_the_scope_of_its_key() -> None:
    """Whatever segments are asked for, the scope begins with the key's own, or is refused."""
    choose = random.Random(7)  # noqa: S311 (repeatable)
    segments = ("", "..", "/", "acme", "a/b", "%2e", "*", "\0", "é", "x" * 300)

    for _ in range(2_000):
        asked = [choose.choice(segments) for _ in range(choose.randrange(4))]
        try:
            found = granted(principal(), "read", asked)
        except UsageError:
            continue
        assert ("acme", *asked) == found


@pytest.mark.parametrize("permission", PERMISSIONS)
def test_each_permission_is_needed_by_itself(permission: Permission) -> None:
    """No permission contains another, admin included."""
    others = [each for each in PERMISSIONS if each != permission]

    assert ("acme",) == granted(principal(permission), permission)
    with pytest.raises(ForbiddenError, match=permission):
        granted(principal(*others), permission)


def test_below_is_a_permission_of_its_own() -> None:
    """Who may read one scope may not read all below it."""
    with pytest.raises(ForbiddenError, match="below"):
        granted(principal("read"), "read", below=True)


def test_a_scope_outside_the_keys_own_is_not_told() -> None:
    """Answers name scopes relative to the key; one that is not below it is a fault, not a name."""
    assert ["users"] == relative(principal(), ("acme", "users"))
    with pytest.raises(ForbiddenError) as error:
        relative(principal(), ("acmeevil", "ada"))
    assert "ada" not in str(error.value)


async def test_the_key_itself_is_not_kept(store: Store) -> None:
    """Nothing in the store holds the secret part of a key."""
    _, secret = await Keys(store).create("n", ("acme",), ["read"])

    records = await store.archive(KEYS_SCOPE)

    assert records
    assert secret.split("_", 2)[2] not in str(records)


async def test_a_key_is_good_until_its_end(store: Store, clock: FrozenClock) -> None:
    """At the moment of its end a key is good no longer."""
    end = clock.now() + timedelta(hours=1)
    _, secret = await Keys(store).create("n", ("acme",), ["read"], expires_at=end)
    before = await Keys(store).principal(secret)
    clock.advance(3_600)

    assert ("acme",) == before.scope
    with pytest.raises(UnknownKeyError):
        await Keys(store).principal(secret)


async def test_a_key_says_when_it_was_last_used(store: Store) -> None:
    """Alone as in a list: the last use is a record of its own."""
    keys = Keys(store)
    made, secret = await keys.create("n", ("acme",), ["read"])
    unused = await keys.key(made.id)
    await keys.principal(secret)
    used = await keys.key(made.id)

    assert unused.last_used_at is None
    assert used.last_used_at is not None
    assert [used] == await keys.all()


async def test_a_rotated_key_is_good_while_they_overlap(store: Store, clock: FrozenClock) -> None:
    """Both secrets are good for a while, then the new one alone."""
    keys = Keys(store)
    made, old = await keys.create("n", ("acme",), ["read"])
    _, new = await keys.rotate(made.id, overlap_s=60)
    both = [(await keys.principal(each)).key_id for each in (old, new)]
    clock.advance(61)

    assert [made.id, made.id] == both
    assert made.id == (await keys.principal(new)).key_id
    with pytest.raises(UnknownKeyError):
        await keys.principal(old)


async def test_a_revoked_key_does_not_come_back(store: Store) -> None:
    """Using it once more, and noting that it was used, does not bring it back."""
    keys = Keys(store)
    made, secret = await keys.create("n", ("acme",), ["read"])
    await keys.principal(secret)
    await keys.revoke(made.id)

    with pytest.raises(UnknownKeyError):
        await keys.principal(secret)
    assert [] == await keys.all()


async def test_a_key_cannot_be_bound_to_what_is_the_services_own(store: Store) -> None:
    """No key reaches the scope in which keys are kept."""
    with pytest.raises(UsageError, match="reserved for the service"):
        await Keys(store).create("n", KEYS_SCOPE, ["read"])


def test_a_token_is_good_for_its_purpose_alone() -> None:
    """Another purpose, scope, service, or a changed letter is refused."""
    signer = Signer(b"secret")
    token = signer.token([1, "a"], "cursor", "threads", ("acme",))

    assert [1, "a"] == signer.value(token, "cursor", "threads", ("acme",))
    wrong = (
        (signer, token, ("cursor", "threads", ("globex",))),
        (signer, token, ("cursor", "memories", ("acme",))),
        (Signer(b"other"), token, ("cursor", "threads", ("acme",))),
        (signer, ("A" if token[0] == "B" else "B") + token[1:], ("cursor", "threads", ("acme",))),
        (signer, "", ("cursor", "threads", ("acme",))),
    )
    for signed, given, purpose in wrong:
        with pytest.raises(UsageError, match="the cursor is invalid"):
            signed.value(given, *purpose)


def test_a_tenant_may_ask_again_after_the_time_that_it_was_told() -> None:
    """A bucket fills steadily; one tenant's is not another's."""
    moments = iter((0.0, 0.0, 0.0, 0.0, 10.0))
    rates = Rates(rate=0.1, burst=2, monotonic_s=lambda: next(moments))
    rates.take("a")
    rates.take("a")

    with pytest.raises(QuotaError) as error:
        rates.take("a")
    rates.take("b")
    rates.take("a")

    assert 10.0 == error.value.retry_after_s
