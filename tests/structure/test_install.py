"""What a user gets from `pip install .` alone: no extra, no tool of ours."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "recollect"


def run(*command: str | Path, folder: Path) -> str:
    """Run *command* in *folder* and return what it printed."""
    # Without PYTHONPATH: the installed package is meant, not this tree.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    finished = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, f"{command}\n{finished.stdout}\n{finished.stderr}"
    return finished.stdout


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an environment that has the package and what it declares, and return its programs."""
    folder = tmp_path_factory.mktemp("bare")
    environment = folder / "environment"
    # Our own pip installs into it, so that this works where Python comes without ensurepip.
    run(sys.executable, "-m", "venv", "--without-pip", environment, folder=folder)
    programs = environment / "bin"
    pip = (sys.executable, "-m", "pip", "--python", programs / "python")
    run(*pip, "install", "--quiet", "--no-input", ROOT, folder=folder)
    return programs


def test_the_command_says_its_version(bare: Path, tmp_path: Path) -> None:
    """`recollect --version` names the version that pyproject.toml declares."""
    declared = tomllib.loads(ROOT.joinpath("pyproject.toml").read_text("utf-8"))["project"]

    printed = run(bare / "recollect", "--version", folder=tmp_path)

    assert declared["version"] in printed


def test_the_command_explains_recall(bare: Path, tmp_path: Path) -> None:
    """`recollect recall --help` works with nothing but the core installed."""
    printed = run(bare / "recollect", "recall", "--help", folder=tmp_path)

    assert "Usage:" in printed


def test_a_memory_is_used_with_nothing_but_the_core(bare: Path, tmp_path: Path) -> None:
    """What is imported is formed, found and erased: no command needs the service's packages."""
    talk = tmp_path / "talk.json"
    talk.write_text('[{"role": "user", "content": "I live in Oslo."}]', "utf-8")
    program, at = bare / "recollect", ("--store", "talk.db", "--scope", "ada")

    run(program, "import", talk, *at, folder=tmp_path)
    run(program, "form", "ada", "--store", "talk.db", "--model", "rules", folder=tmp_path)
    memories = run(program, "memories", *at, folder=tmp_path)
    recalled = run(program, "recall", "Where do I live?", *at, folder=tmp_path)
    context = run(program, "context", "Where do I live?", "--render", *at, folder=tmp_path)
    run(program, "erase", "--everything", "--yes", *at, folder=tmp_path)

    assert '"home": "Oslo"' in memories
    assert "I live in Oslo." in recalled
    assert "Oslo" in context
    assert "Oslo" not in run(program, "memories", *at, folder=tmp_path)


def test_the_package_imports_without_onnxruntime(bare: Path, tmp_path: Path) -> None:
    """The embedder's package is optional, and absent here."""
    program = (
        "import importlib.util, recollect\n"
        "print(importlib.util.find_spec('onnxruntime'), recollect.__name__)"
    )

    printed = run(bare / "python", "-c", program, folder=tmp_path)

    assert printed.split() == ["None", "recollect"]


def test_the_wheel_carries_every_file(bare: Path, tmp_path: Path) -> None:
    """SQL, word lists, other data and py.typed are installed beside the modules."""
    program = "import importlib.util; print(importlib.util.find_spec('recollect').origin)"
    installed = Path(run(bare / "python", "-c", program, folder=tmp_path).strip()).parent
    ours = {path.relative_to(SOURCE) for path in SOURCE.rglob("*") if path.is_file()}

    missing = {
        path
        for path in ours
        if "__pycache__" not in path.parts and not (installed / path).is_file()
    }

    assert ROOT not in installed.parents
    assert missing == set()
