-- When the newest message was said that a memory rests on. The release before writes none: what it
-- writes meanwhile is dated by its last update, as it was.
ALTER TABLE recollect.memory ADD COLUMN said_at bigint;

-- The rows of all scopes are looked through once, which the wall allows to nobody, not even to the
-- owner. It is up again when this transaction ends, and nobody else sees it down.
ALTER TABLE recollect.thread NO FORCE ROW LEVEL SECURITY;
ALTER TABLE recollect.message NO FORCE ROW LEVEL SECURITY;
ALTER TABLE recollect.memory NO FORCE ROW LEVEL SECURITY;

UPDATE recollect.memory AS dated SET said_at = found.at
FROM (
    SELECT k.scope_id, k.uid, max(m.time) AS at
    FROM recollect.memory AS k
    CROSS JOIN LATERAL jsonb_each(k.evidence::jsonb) AS field (pointer, cited)
    CROSS JOIN LATERAL jsonb_array_elements(field.cited) AS each (said)
    JOIN recollect.thread AS t ON t.scope_id = k.scope_id AND t.id = each.said ->> 0
    JOIN recollect.message AS m
        ON m.scope_id = t.scope_id AND m.thread = t.number AND m.id = each.said ->> 1
    WHERE k.evidence <> '{}'
    GROUP BY k.scope_id, k.uid
) AS found
WHERE dated.scope_id = found.scope_id AND dated.uid = found.uid;

ALTER TABLE recollect.thread FORCE ROW LEVEL SECURITY;
ALTER TABLE recollect.message FORCE ROW LEVEL SECURITY;
ALTER TABLE recollect.memory FORCE ROW LEVEL SECURITY;
