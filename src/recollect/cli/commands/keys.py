"""`recollect keys`: manage the API keys of a service, with access to its store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Final

import click

from recollect.cli.layout import minute
from recollect.cli.options import Command, MomentOption, Target, memory_options, scope_from
from recollect.cli.output import counted, note, print_entry, print_json
from recollect.cli.store_choice import opened, service_store_option
from recollect.text.scope_paths import written_scope

if TYPE_CHECKING:
    from recollect.records import Scope
    from recollect.server.api_keys import Key, Keys
    from recollect.stores.contract.base import Store

_PERMISSIONS: Final = ("read", "write", "erase", "below", "admin")
_LIST_EXAMPLE: Final = """
\b
Examples:
  recollect keys list
  recollect keys list --scope acme/users --json
"""
_CREATE_EXAMPLE: Final = """
\b
Examples:
  recollect keys create chat --scope acme/users/ada
  recollect keys create dashboard --scope acme --may read --may below --expires 2027-01-01
"""
_REVOKE_EXAMPLE: Final = """
\b
Example:
  recollect keys revoke 1f0c6a5f2f6b4f0e
"""
_RECOVER_EXAMPLE: Final = """
\b
Examples:
  recollect keys recover
  recollect keys recover --scope acme --store postgresql://me@localhost/memory
"""


@click.group(short_help="List, create, revoke, recover keys of a service.")
def keys() -> None:
    """
    List, create, revoke and recover the keys of `recollect serve`.

    The command reads and writes the store itself, whether a service runs or not: access to the
    store is access to everything. A key is printed once; the store has only its digest.
    """


def _key_options(command: Command) -> Command:
    """Add the options that name the store and the scope of keys."""
    scoped = click.option("--scope", "bound", metavar="A/B/C", help="The scope of the keys.")
    return memory_options(embedder=False, scope=False, store=service_store_option())(
        scoped(command)
    )


@keys.command("list", epilog=_LIST_EXAMPLE, short_help="List the keys, oldest first.")
@_key_options
async def list_(target: Target, bound: str | None) -> None:
    """List all keys, or those bound to --scope or below it; secrets are never shown."""
    from recollect.stores.validation import to_datetime

    async with _opened_keys(target) as (kept, store):
        found, now = await kept.all(_scope_of(bound) or ()), to_datetime(store.now())
    if target.is_json:
        print_json({"keys": [each.public_fields(list) for each in found]})
        return
    for each in found:
        head = [(each.id, "bold cyan"), (each.name, "bold"), (written_scope(each.scope), "")]
        print_entry(head, _describe(each, now), [])
    note(counted(len(found), "key"))


@keys.command(epilog=_CREATE_EXAMPLE, short_help="Create a key, and print it once.")
@click.argument("name")
@_key_options
@click.option(
    "--may",
    "permissions",
    multiple=True,
    type=click.Choice(_PERMISSIONS),
    default=("read", "write"),
    show_default="read and write",
    help="A permission; repeatable.",
)
@click.option("--expires", type=MomentOption(), help="Time of expiry.  [default: never]")
async def create(
    target: Target,
    name: str,
    bound: str | None,
    permissions: Sequence[str],
    expires: datetime | None,
) -> None:
    """Create a key called NAME, for --scope or the scope that a first key would have."""
    from recollect.server.first_key import first_scope, read_common_scope

    async with _opened_keys(target) as (kept, store):
        scope = first_scope(_scope_of(bound), await read_common_scope(store))
        key, secret = await kept.create(name, scope, permissions, expires_at=expires)
    _print_secret(target, key, secret)


@keys.command(epilog=_REVOKE_EXAMPLE, short_help="Revoke a key at once.")
@click.argument("id_", metavar="ID")
@memory_options(embedder=False, scope=False, store=service_store_option())
async def revoke(target: Target, id_: str) -> None:
    """Revoke the key ID at once: open requests end as well. `recollect keys list` shows ids."""
    from recollect.server.authorization import PERMISSIONS

    async with _opened_keys(target) as (kept, _):
        key = await kept.key(id_)
        await kept.revoke(id_)
        left = await kept.all()
    record = key.public_fields(list)
    if target.is_json:
        print_json({"revoked": record})
    else:
        click.echo(f"revoked {key.id} ({key.name}), for {written_scope(key.scope)}")
    if not any(each.permissions >= frozenset(PERMISSIONS) for each in left):
        note("no key with all permissions is left: `recollect keys recover` creates one")


@keys.command(epilog=_RECOVER_EXAMPLE, short_help="Create another first key, if it is lost.")
@_key_options
async def recover(target: Target, bound: str | None) -> None:
    """
    Create another key with all permissions, for --scope or for the scope of the first key.

    Existing keys stay valid; those with all permissions on the same scope are listed.
    """
    from recollect.server.first_key import recover_first_key

    async with _opened_keys(target) as (kept, store):
        found = await recover_first_key(kept, store, _scope_of(bound))
    _print_secret(target, found.key, found.secret)
    for each in found.earlier:
        note(
            f"{each.id} ({each.name}, for {written_scope(each.scope)}) stays valid: "
            f"`recollect keys revoke {each.id}` ends it"
        )


def _scope_of(written: str | None) -> Scope | None:
    return None if written is None else scope_from(written, ())


@asynccontextmanager
async def _opened_keys(target: Target) -> AsyncIterator[tuple[Keys, Store]]:
    """Open the keys of a store; changes are audited with the actor ``local``."""
    from recollect.server.api_keys import Keys
    from recollect.server.authorization import LOCAL

    async with opened(target) as memory:
        store = memory.acting(LOCAL).store
        yield Keys(store), store


def _describe(key: Key, now: datetime) -> str:
    """Return a key's permissions, and its times of creation, last use and expiry."""
    used = f"used {minute(key.last_used_at)}" if key.last_used_at else "never used"
    is_over = key.expires_at is not None and key.expires_at <= now
    ends = f"{'expired' if is_over else 'ends'} {minute(key.expires_at) or 'never'}"
    return f"{_permissions_of(key)}; made {minute(key.created_at)}, {used}, {ends}"


def _permissions_of(key: Key) -> str:
    """Return the permissions of a key in their documented order."""
    return ", ".join(each for each in _PERMISSIONS if each in key.permissions)


def _print_secret(target: Target, key: Key, secret: str) -> None:
    if target.is_json:
        print_json({**key.public_fields(list), "key": secret})
        return
    place = written_scope(key.scope)
    note(f"the key {key.id}, for {place} ({_permissions_of(key)}), shown this once:")
    click.echo(secret)
