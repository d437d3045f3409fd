"""Controls: claims and commits on a bare PostgreSQL server, without our store."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Final

import psycopg

from recollect.stores.system_clock import timer_s

CONNECTIONS: Final = 10
"""Connections, as many as a store uses."""

_QUEUE: Final = """
CREATE TABLE bench_queue AS SELECT number AS id, number AS due, NULL::text AS owner
FROM generate_series(1, %s) AS number
"""
_TAKE: Final = """
SELECT id FROM bench_queue WHERE owner IS NULL ORDER BY due LIMIT 1 FOR UPDATE SKIP LOCKED
"""


def bare_claims_a_second(url: str, waiting: int, claims: int) -> float:
    """Return rows per second taken from a bare queue, one per transaction."""
    with psycopg.connect(url, autocommit=True) as administrator:
        administrator.execute(_QUEUE.replace("%s", str(int(waiting))))
        administrator.execute("CREATE INDEX ON bench_queue (due) WHERE owner IS NULL")
        administrator.execute("ALTER TABLE bench_queue ADD PRIMARY KEY (id)")
        administrator.execute("VACUUM (ANALYZE) bench_queue")
    connections = [psycopg.connect(url) for _ in range(CONNECTIONS)]

    def take(connection: psycopg.Connection[tuple[int]]) -> None:
        for _ in range(claims // CONNECTIONS):
            with connection.transaction():
                found = connection.execute(_TAKE).fetchall()
                change = "UPDATE bench_queue SET owner = 'worker' WHERE id = %s"
                for row in found:
                    connection.execute(change, row)

    with ThreadPoolExecutor(CONNECTIONS) as threads:
        began = timer_s()
        list(threads.map(take, connections))
        took_s = timer_s() - began
    for connection in connections:
        connection.close()
    return claims // CONNECTIONS * CONNECTIONS / took_s


def bare_commits_a_second(url: str, commits: int) -> float:
    """Return commits per second of one small row over several connections."""
    with psycopg.connect(url, autocommit=True) as administrator:
        administrator.execute("CREATE TABLE bench_row (text text)")
    connections = [psycopg.connect(url, autocommit=True) for _ in range(CONNECTIONS)]

    def write(connection: psycopg.Connection[tuple[int]]) -> None:
        for _ in range(commits // CONNECTIONS):
            connection.execute("INSERT INTO bench_row VALUES ('about twenty words of text')")

    with ThreadPoolExecutor(CONNECTIONS) as threads:
        began = timer_s()
        list(threads.map(write, connections))
        took_s = timer_s() - began
    for connection in connections:
        connection.close()
    return commits // CONNECTIONS * CONNECTIONS / took_s
