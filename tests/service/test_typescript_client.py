"""The TypeScript client, packed as it is published, against `recollect serve`."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from recollect import __version__
from recollect.server.testing import serving
from tests.harness.versioned_service import answering, lacks, newer, version_of

SOURCE = Path(__file__).parents[2] / "clients" / "typescript"
PAGE = SOURCE.parents[1] / "docs" / "typescript.md"
TOOLS = SOURCE / "node_modules"
NAME = "recollect-client"
RUN_S_MAX = 120.0


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the published package among its modules, and the tests of it."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("Node is not installed: the client runs in it")
    if not TOOLS.is_dir():
        pytest.skip("the client's tools are not installed: run `make client`")
    package, folder = (tmp_path_factory.mktemp(each) for each in ("package", "application"))
    for name in ("package.json", "tsconfig.json", "README.md"):
        shutil.copy(SOURCE / name, package)
    shutil.copytree(SOURCE / "src", package / "src")
    (package / "node_modules").symlink_to(TOOLS)
    told(package, npm, "pack", "--silent", "--offline")
    (archive,) = package.glob("*.tgz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    (folder / "node_modules").mkdir()
    (folder / "package").rename(folder / "node_modules" / NAME)
    shutil.copytree(SOURCE / "test", folder / "test")
    shutil.copy(SOURCE / "tsconfig.json", folder)
    (folder / "package.json").write_text('{"type": "module"}', "utf-8")
    return folder


def run(folder: Path, *command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, and keep what it prints."""
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=RUN_S_MAX,
        check=False,
    )


def told(folder: Path, *command: str | Path, **variables: str) -> str:
    """Run a command in a folder; return what it prints, and fail with it if it fails."""
    done = run(folder, *command, **variables)
    assert 0 == done.returncode, done.stdout
    return done.stdout


def blocks_of(page: str, language: str) -> list[str]:
    """Return the code of a page."""
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


@contextmanager
def service(folder: Path) -> Iterator[Mapping[str, str]]:
    """Run `recollect serve` over a store of its own; yield where it is, as variables."""
    environment = {name: each for name, each in os.environ.items() if "RECOLLECT" not in name}
    command = [sys.executable, "-m", "recollect", "serve", "--port", "0", "--embedder", "none"]
    with (
        (folder / "log").open("w+", encoding="utf-8") as log,
        subprocess.Popen(
            [*command, "--store", "memory:", "--model", "rules"],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as running,
    ):
        try:
            assert running.stdout
            key = next(filter(None, (re.search(r"rk_\S+", each) for each in running.stdout)))[0]
            url = address_in(folder / "log", running)
            yield {"RECOLLECT_URL": url, "RECOLLECT_KEY": key, "RECOLLECT_PID": str(running.pid)}
        finally:
            running.kill()


def address_in(log: Path, running: subprocess.Popen[str]) -> str:
    """Return the address that a service logs when it has started."""
    until = time.monotonic() + RUN_S_MAX
    while time.monotonic() < until and running.poll() is None:
        found = re.search(r"at (http://\S+)", log.read_text("utf-8"))
        if found:
            return found[1]
        time.sleep(0.05)
    pytest.fail(log.read_text("utf-8"))


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Mapping[str, str]]:
    """Yield where a service of this test's own is."""
    with service(tmp_path) as found:
        yield found


def run_with_node(application: Path, name: str, variables: Mapping[str, str]) -> str:
    """Run one of the package's own test modules with Node's test runner."""
    return told(application, "node", "--test", f"test/{name}.test.js", **variables)


def test_it_does_what_an_application_needs(application: Path, served: Mapping[str, str]) -> None:
    """Append, recall, put, correct, erase, faults, repetitions, streams."""
    found = run_with_node(application, "service", served)

    assert re.search(r"^# fail 0$", found, re.MULTILINE), found
    assert not re.search(r"^# (pass|tests) 0$", found, re.MULTILINE), found


def test_a_service_that_stops_is_told(application: Path, served: Mapping[str, str]) -> None:
    """The stream of changes ends with an error, and so does the next request."""
    found = run_with_node(application, "stopped", served)

    assert re.search(r"^# pass 1$", found, re.MULTILINE), found


def test_the_lines_of_its_readme_run(application: Path, served: Mapping[str, str]) -> None:
    """They are ten at most, and print what the page says."""
    readme = (application / "node_modules" / NAME / "README.md").read_text("utf-8")
    (block,) = blocks_of(readme, "js")
    (application / "readme.js").write_text(block, "utf-8")

    found = told(application, "node", "readme.js", **served)

    assert len([each for each in block.splitlines() if each]) <= 10
    assert found.startswith("We moved to Oslo in May.\n")
    assert found.count("We moved to Oslo in May.") == 2


def test_wrong_fields_do_not_compile(application: Path) -> None:
    """
    Lines that are marked as wrong fail, and no other; nor does any of the documentation.

    The mutant is a right field that is marked as wrong: it alone is reported.
    """
    test = application / "test"
    text = (test / "types.ts").read_text("utf-8")
    (test / "mutant.ts").write_text(text.replace("txt:", "text:"), "utf-8")
    (test / "page.ts").write_text("".join(blocks_of(PAGE.read_text("utf-8"), "ts")), "utf-8")

    done = run(application, "node", TOOLS / "typescript" / "bin" / "tsc", "-p", "test")

    (reported,) = done.stdout.splitlines()
    assert re.match(r"test/mutant\.ts.* Unused '@ts-expect-error' directive", reported), done.stdout


def test_services_of_other_versions_are_told(application: Path) -> None:
    """At services older and newer than it, at one of its version, and at another program."""
    gone = lacks("GET /v1/threads", "limit")
    with (
        serving() as served,
        version_of(served.url, "9.9.9", lacks("GET /v1/threads"), newer) as after,
        version_of(served.url, "0.0.1", gone) as older,
        version_of(served.url, __version__, gone) as like,
        answering(404, "text/html", "<html>Nothing here</html>") as other,
    ):
        places = {"NEWER": after, "OLDER": older, "SAME": like, "OTHER": other}
        found = run_with_node(application, "versions", {"RECOLLECT_KEY": served.key, **places})

    assert re.search(r"^# pass 5$", found, re.MULTILINE), found


def test_both_clients_have_the_version_of_the_service() -> None:
    """The one of TypeScript in two places."""
    package = json.loads((SOURCE / "package.json").read_text("utf-8"))
    source = (SOURCE / "src" / "version.ts").read_text("utf-8")

    assert __version__ == package["version"]
    assert f'VERSION = "{__version__}"' in source
