"""Frameworks with environments of their own: each scenario of theirs passes there."""

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
QUIET = {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "HF_HUB_OFFLINE": "1"}
SCENARIOS = [
    (path.name.removesuffix("_scenarios.py"), name)
    for path in sorted(FOLDER.glob("*_scenarios.py"))
    for name in re.findall(r"^(?:async )?def (scenario_\w+)", path.read_text("utf-8"), re.MULTILINE)
]


@cache
def outcomes(framework: str) -> dict[str, str | None]:
    """Run all scenarios of a framework; return the traceback of each that failed."""
    python = Path(sys.prefix, "frameworks", framework, "bin", "python")
    if not python.exists():
        pytest.skip(f"`make {framework.replace('_', '-')}` installs it")
    run = subprocess.run(
        [
            str(python),
            str(FOLDER / "scenario_runner.py"),
            str(FOLDER / f"{framework}_scenarios.py"),
        ],
        env={**os.environ, **QUIET, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
        cwd=FOLDER,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found: dict[str, str | None] = json.loads(run.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize(("framework", "name"), SCENARIOS)
def test_a_scenario_passes_with_the_framework_itself(framework: str, name: str) -> None:
    assert outcomes(framework)[name] is None, outcomes(framework)[name]
