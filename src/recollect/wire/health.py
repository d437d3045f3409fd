"""The health of a memory as JSON."""

from __future__ import annotations

from recollect.observability.health import Health, StoreHealth, TaskError, TaskHealth
from recollect.records import Json
from recollect.wire.elements import (
    Fields,
    record_from_json,
    record_to_json,
    time_from_json,
    time_to_json,
)


def health_to_json(health: Health) -> dict[str, Json]:
    """Encode the health of a memory, its store and its background tasks."""
    return {
        "status": health.status,
        "at": time_to_json(health.at),
        "store": record_to_json(health.store),
        "tasks": [task_to_json(each) for each in health.tasks],
    }


def health_from_json(fields: Fields) -> Health:
    """Decode the result of `health_to_json`."""
    return Health(
        at=time_from_json(fields["at"]),
        store=record_from_json(StoreHealth, fields["store"]),
        tasks=tuple(map(task_from_json, fields["tasks"])),
    )


def task_to_json(task: TaskHealth) -> dict[str, Json]:
    """Encode the health of a background task."""
    error = task.last_error
    last_error = None if error is None else record_to_json(error)
    return {**record_to_json(task), "last_error": last_error}


def task_from_json(fields: Fields) -> TaskHealth:
    """Decode the result of `task_to_json`."""
    error = fields["last_error"]
    last_error = None if error is None else record_from_json(TaskError, error)
    return record_from_json(TaskHealth, fields, last_error=last_error)
