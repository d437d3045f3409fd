-- Begin, settings and end of a transaction. Every setting is local to its transaction, so that a
-- pooler may give the session to another client between two transactions.

-- :name begin_reading
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;

-- :name begin_writing
BEGIN ISOLATION LEVEL READ COMMITTED;

-- :name settle
-- Every query has its index. Without statistics, or with those of a smaller store, the planner would
-- sometimes scan or hash a whole table instead, so these plans are off. As the best plan is the same
-- for all values, each statement is planned once.
SELECT
    set_config('enable_seqscan', 'off', true),
    set_config('enable_material', 'off', true),
    set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true),
    set_config('plan_cache_mode', 'force_generic_plan', true),
    set_config('jit', 'off', true),
    set_config('role', 'recollect_app', true),
    set_config('search_path', 'pg_catalog', true),
    set_config('statement_timeout', %s, true),
    set_config('lock_timeout', %s, true),
    set_config('idle_in_transaction_session_timeout', %s, true);

-- :name enter
SELECT
    set_config('recollect.scope', %s, true),
    set_config('recollect.first', %s, true),
    set_config('recollect.end', %s, true),
    set_config('recollect.sweep', %s, true);

-- :name commit
COMMIT;

-- :name roll_back
ROLLBACK;

-- :name process
SELECT pg_backend_pid();

-- :name listen
LISTEN recollect;

-- :name ring
SELECT pg_notify('recollect', '');

-- :name moment
SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;

-- :name takes_writes
SELECT NOT pg_is_in_recovery() AND current_setting('default_transaction_read_only') = 'off';

-- :name primary_wal
-- The end of the log, and the time by which commits are stamped. A replica has no such end.
SELECT
    CASE
        WHEN NOT pg_is_in_recovery() THEN pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint
    END,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;

-- :name replay
-- How far a replica has replayed the log, the time of the last commit in it, and which store it has.
SELECT
    pg_is_in_recovery(),
    pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint,
    (extract(epoch FROM pg_last_xact_replay_timestamp()) * 1000000)::bigint,
    sha256(secret) = %s,
    version
FROM recollect.meta;

-- :name state
-- Not to_regclass: it may answer from a cache that does not yet know what another program, whose
-- migration this one waited for, has just committed.
SELECT
    pg_is_in_recovery(),
    current_setting('server_encoding'),
    EXISTS (
        SELECT FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = 'recollect' AND c.relname = 'meta'
    );

-- :name lock_schema
SELECT pg_advisory_xact_lock(5504684914225340236);

-- :name version
SELECT format, version, requires FROM recollect.meta;

-- :name partitions
SELECT coalesce(nullif(current_setting('recollect.partitions', true), ''), '0');

-- :name set_version
UPDATE recollect.meta SET version = greatest(version, %s), requires = greatest(requires, %s);

-- :name may_enter
SELECT pg_has_role(
    current_user,
    'recollect_app',
    CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER' ELSE 'SET' END
);

-- :name secret
SELECT secret FROM recollect.meta;

-- :name may_rewrite
SELECT bool_and(pg_has_role(current_user, relowner, 'USAGE'))
FROM pg_class WHERE relnamespace = 'recollect'::regnamespace AND relkind = 'r';

-- :name tables
-- A table without pages holds no bytes to remove.
SELECT relname FROM pg_class
WHERE relnamespace = 'recollect'::regnamespace AND relkind = 'r' AND pg_relation_size(oid) > 0
ORDER BY relname;

-- :name schema
SELECT line FROM (
    SELECT format(
        'table %s walled %s forced %s', c.relname, c.relrowsecurity, c.relforcerowsecurity
    ) AS line
    FROM pg_class AS c
    WHERE c.relnamespace = 'recollect'::regnamespace AND c.relkind IN ('r', 'p')
        AND NOT c.relispartition
    UNION ALL
    SELECT format(
        'column %s.%s %s %s collate %s default %s statistics %s',
        c.relname,
        a.attname,
        format_type(a.atttypid, a.atttypmod),
        CASE WHEN a.attnotnull THEN 'not null' ELSE 'null' END,
        coalesce((SELECT l.collname FROM pg_collation AS l WHERE l.oid = a.attcollation), 'none'),
        coalesce(pg_get_expr(d.adbin, d.adrelid), 'none'),
        coalesce(nullif(a.attstattarget, -1)::text, 'default')
    )
    FROM pg_class AS c
    JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE c.relnamespace = 'recollect'::regnamespace AND c.relkind IN ('r', 'p')
        AND NOT c.relispartition
    UNION ALL
    SELECT 'index ' || replace(pg_get_indexdef(c.oid), ' ON ONLY ', ' ON ')
    FROM pg_class AS c
    WHERE c.relnamespace = 'recollect'::regnamespace AND c.relkind IN ('i', 'I')
        AND NOT c.relispartition
    UNION ALL
    SELECT format('check %s %s', c.relname, pg_get_constraintdef(k.oid))
    FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid
    WHERE c.relnamespace = 'recollect'::regnamespace AND k.contype = 'c' AND NOT c.relispartition
    UNION ALL
    -- The number of partitions is a setting; each partition states it, so a lost one is noticed.
    SELECT format('partitions of %s: %s', p.relname, count(c.oid))
    FROM pg_class AS p
    LEFT JOIN pg_inherits AS i ON i.inhparent = p.oid
    LEFT JOIN pg_class AS c ON c.oid = i.inhrelid
    WHERE p.relnamespace = 'recollect'::regnamespace AND p.relkind = 'p'
    GROUP BY p.relname
    HAVING count(c.oid) IS DISTINCT FROM
        max(substring(pg_get_expr(c.relpartbound, c.oid) FROM 'modulus (\d+)')::bigint)
    UNION ALL
    SELECT format('policy %s.%s %s using %s check %s', tablename, policyname, cmd, qual, with_check)
    FROM pg_policies WHERE schemaname = 'recollect'
    UNION ALL
    SELECT format(
        'right %s %s', c.relname, string_agg(x.privilege_type, ' ' ORDER BY x.privilege_type)
    )
    FROM pg_class AS c CROSS JOIN LATERAL aclexplode(c.relacl) AS x
    WHERE c.relnamespace = 'recollect'::regnamespace
        AND x.grantee = (SELECT oid FROM pg_roles WHERE rolname = 'recollect_app')
    GROUP BY c.relname
    UNION ALL
    SELECT format('sequence %s %s cache %s', sequencename, data_type, cache_size)
    FROM pg_sequences WHERE schemaname = 'recollect'
) AS lines
ORDER BY line COLLATE "C";
