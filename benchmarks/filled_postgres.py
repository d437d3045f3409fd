"""Fill a PostgreSQL store with many scopes by copying one on the server."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import psycopg

from recollect.records import Scope

Administrator: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"

# Row security applies: the scopes are copied one by one, as any user of the store may.
_COPIER: Final = """
CREATE FUNCTION pg_temp.copy_scopes(template bigint, copies bigint) RETURNS void AS $$
DECLARE
    made bigint;
    parted text;
    statements text[];
BEGIN
    PERFORM set_config('recollect.scope', template::text, true);
    CREATE TEMP TABLE one_scope AS SELECT * FROM recollect.scope WHERE id = template;
    FOREACH parted IN ARRAY ARRAY['thread', 'message'] LOOP
        EXECUTE format(
            'CREATE TEMP TABLE %I AS SELECT * FROM recollect.%I WHERE scope_id = %s',
            'its_' || parted, parted, template
        );
        statements := statements || (
            SELECT format(
                'INSERT INTO recollect.%1$I (scope_id, %2$s) SELECT $1, %2$s FROM its_%1$s',
                parted, string_agg(quote_ident(attname), ', ')
            )
            FROM pg_attribute
            WHERE attrelid = ('recollect.' || parted)::regclass AND attnum > 0
                AND NOT attisdropped AND attname <> 'scope_id'
        );
    END LOOP;
    FOR number IN 1..copies LOOP
        made := nextval('recollect.number');
        PERFORM set_config('recollect.scope', made::text, true);
        INSERT INTO recollect.scope (id, path, created_at, epoch, seq, compacted, fence)
        SELECT
            made,
            convert_to('copy', 'UTF8') || '\\x00'::bytea
                || convert_to(made::text, 'UTF8') || '\\x00'::bytea,
            created_at, epoch, seq, compacted, fence
        FROM one_scope;
        FOREACH parted IN ARRAY statements LOOP
            EXECUTE parted USING made;
        END LOOP;
    END LOOP;
    DROP TABLE one_scope, its_thread, its_message;
END
$$ LANGUAGE plpgsql
"""


def copy_scope(url: str, scope: Scope, copies: int) -> None:
    """Copy *scope* many times under other names, and analyse the tables."""
    path = b"".join(segment.encode() + b"\0" for segment in scope)
    with psycopg.connect(url, autocommit=True) as administrator:
        administrator.execute(_COPIER)
        found = administrator.execute("SELECT id FROM recollect.scope WHERE path = %s", (path,))
        for (template,) in found.fetchall():
            administrator.execute("SELECT pg_temp.copy_scopes(%s, %s)", (template, copies))
        settle(administrator)


def settle(administrator: Administrator) -> None:
    """Run the server's pending maintenance now, so that it does not disturb timings."""
    administrator.execute("VACUUM (ANALYZE)")
    administrator.execute("CHECKPOINT")
