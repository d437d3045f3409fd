"""The two parts of the test suite, the fast and the slow, and the order of their modules."""

from collections import Counter
from pathlib import Path
from typing import Final

import pytest

TESTS: Final = Path(__file__).parents[1]
SLOW: Final = (
    "page",
    "service",
    "mcp",
    "faults",
    "surface",
    "frameworks",
    "structure/test_install.py",
    "structure/test_docs.py",
    "integration/test_models_provider.py",
    "integration/test_postgres_limits.py",
    "integration/test_postgres_upgrade.py",
    "integration/test_recall_linearity.py",
    "integration/test_sqlite_cleaning.py",
    "integration/test_sqlite_disk.py",
    "integration/test_sqlite_migrations.py",
    "integration/test_sqlite_processes.py",
    "integration/test_worker_races.py",
    "contract/test_model.py",
    "search/test_indexes.py",
)
"""Tests that start programs, servers or a browser, kill them, fill disks or play long histories."""

LONGEST: Final = (
    "integration/test_sessions.py",
    "unit/test_formation_claims.py",
    "unit/test_protocol.py",
    "contract/test_redis.py",
    "contract/test_erased_words.py",
    "contract/test_sqlite.py",
    "contract/test_postgres.py",
    "contract/test_between_mutants.py",
    "contract/test_congruence.py",
    "unit/test_messages_like_langchain.py",
    "contract/test_undo_orders.py",
    "unit/test_formation_support.py",
    "contract/test_space_between.py",
    "integration/test_later_answers.py",
    "integration/test_formation_lag.py",
    "integration/test_recall_moments.py",
    "integration/test_recall_followed.py",
    "integration/test_pytest_plugin.py",
    "structure/test_imports.py",
    "integration/test_langgraph_types.py",
    "structure/test_house_rules.py",
    "unit/test_protocol_feed.py",
    "page/test_mutants.py",
    "page/test_workshop.py",
    "page/test_page.py",
    "faults/test_power_loss.py",
    "faults/test_every_read.py",
    "surface/test_cli_chat.py",
    "service/test_quotas.py",
    "mcp/test_mcp.py",
    "surface/test_cli_serve.py",
    "faults/test_postgres_replicas.py",
    "contract/test_model.py",
    "surface/test_cli_worker.py",
    "service/test_revocation.py",
    "mcp/test_coding_agents.py",
    "surface/test_examples.py",
    "faults/test_formation_kills.py",
    "faults/test_formation_answers.py",
    "surface/test_cli_bench_service.py",
    "surface/test_cli_demo.py",
    "faults/test_erased_bytes.py",
)
"""The modules that take longest, each more than 8 s of one core; of each part longest first."""

_SLOW_PATHS: Final = tuple(str(TESTS / name) for name in SLOW)
_RANKS: Final = {str(TESTS / name): rank for rank, name in enumerate(LONGEST)}
_MARK: Final = b"mark.slow"


def is_slow(path: Path) -> bool:
    """Return True if all tests of the file or folder *path* are slow."""
    return str(path).startswith(_SLOW_PATHS)


def holds_no_part(path: Path, marks: str) -> bool:
    """
    Return True if no test of *path* can be selected by *marks*, the argument of ``-m``.

    Importing every test module takes half a minute of processor time in each worker of a run.
    Each part skips the modules that hold only tests of the other.
    """
    terms = {term.strip() for term in marks.split(" and ")}
    if "not slow" in terms:
        return is_slow(path)
    if "slow" not in terms or path.suffix != ".py" or path.name == "conftest.py":
        return False
    return not is_slow(path) and _MARK not in path.read_bytes()


def order_modules(items: list[pytest.Item]) -> None:
    """
    Move the longest modules to the start, then those with most tests.

    Each module runs in one worker. A long one that started last would run alone at the end.
    """
    sizes = Counter(item.path for item in items)
    first_seen: dict[Path, int] = {}
    for item in items:
        first_seen.setdefault(item.path, len(first_seen))

    def place(item: pytest.Item) -> tuple[int, int, int]:
        rank = _RANKS.get(str(item.path), len(_RANKS))
        return rank, -sizes[item.path], first_seen[item.path]

    items.sort(key=place)
