-- Who changed what: a chain for each scope, by a keyed hash of its name, which outlives the scope.
-- A transaction sees the one chain that it names as recollect.first, with no end of a range. Rows
-- are added and read; of what stands there only the actor's name may be taken away.
CREATE TABLE recollect.audit (
    n bigint NOT NULL,
    at bigint NOT NULL,
    chain bytea NOT NULL,
    actor text COLLATE "C",
    actor_key bytea NOT NULL,
    action text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    digest bytea NOT NULL,
    previous bytea NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (chain, n)
);

-- The last row of each chain, kept apart from it, so that a tail that was cut off is missed.
CREATE TABLE recollect.audit_head (
    n bigint NOT NULL,
    chain bytea PRIMARY KEY,
    hash bytea NOT NULL
);

DO $$
DECLARE
    chained text;
    said text;
BEGIN
    FOREACH chained IN ARRAY ARRAY['audit', 'audit_head'] LOOP
        EXECUTE format(
            'CREATE POLICY wall ON recollect.%I USING (chain = ('
            'SELECT CASE WHEN current_setting(''recollect.end'', true) = '''''
            ' THEN decode(current_setting(''recollect.first'', true), ''hex'') END))',
            chained
        );
        EXECUTE format(
            'ALTER TABLE recollect.%I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', chained
        );
    END LOOP;
    -- As of all columns that tell of somebody, the planner keeps no samples of these.
    FOREACH said IN ARRAY ARRAY[
        'chain', 'actor', 'actor_key', 'action', 'subject', 'digest', 'previous', 'hash'
    ] LOOP
        EXECUTE format('ALTER TABLE recollect.audit ALTER COLUMN %I SET STATISTICS 0', said);
    END LOOP;
    ALTER TABLE recollect.audit_head ALTER COLUMN chain SET STATISTICS 0;
    ALTER TABLE recollect.audit_head ALTER COLUMN hash SET STATISTICS 0;
END $$;

GRANT SELECT, INSERT ON recollect.audit TO recollect_app;
GRANT UPDATE (actor) ON recollect.audit TO recollect_app;
GRANT SELECT, INSERT, UPDATE ON recollect.audit_head TO recollect_app;
