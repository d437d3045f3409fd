"""A wheel carries the page where Node is there; a release without it is not built."""

import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.harness.clean_clone import copy_clone

ROOT = Path(__file__).parents[2]
_SPEC = importlib.util.spec_from_file_location("build_hook", ROOT / "tools" / "build_hook.py")
assert _SPEC is not None
assert _SPEC.loader is not None
HOOK = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(HOOK)
STATIC = Path("src") / "recollect" / "server" / "static"
INDEX = """\
<!doctype html><script type="module" src="./assets/index-1.js"></script>
<link rel="stylesheet" href="./assets/index-1.css" />
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Copy what a wheel is built from, without a page, and without programs but Python's."""
    copy = tmp_path / "project"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "tools"):
        whole = ROOT / name
        if whole.is_dir():
            shutil.copytree(whole, copy / name)
        else:
            shutil.copy(whole, copy / name)
    package = copy / "src" / "recollect"
    package.mkdir(parents=True)
    shutil.copy(ROOT / "src" / "recollect" / "__init__.py", package)
    # As in the project, so that what git leaves out is left out here.
    shutil.copy(ROOT / ".gitignore", copy)
    return copy


def build(project: Path, *, release: bool, path: str = "") -> subprocess.CompletedProcess[str]:
    """Build a wheel of *project*, with no program in reach but Python and those on *path*."""
    return subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "dist"],
        cwd=project,
        env={**os.environ, "PATH": path, "RECOLLECT_RELEASE": "1" if release else "0"},
        capture_output=True,
        text=True,
        check=False,
    )


def wheel_of(project: Path) -> list[str]:
    """Return the names in the wheel that was built."""
    (wheel,) = (project / "dist").glob("*.whl")
    return zipfile.ZipFile(wheel).namelist()


def add_page(project: Path, *, script: bool = True) -> None:
    """Put a page where `make page` builds it; without its *script* it is broken."""
    assets = project / STATIC / "assets"
    assets.mkdir(parents=True)
    (project / STATIC / "index.html").write_text(INDEX, "utf-8")
    (assets / "index-1.css").write_text("", "utf-8")
    if script:
        (assets / "index-1.js").write_text("", "utf-8")


def test_a_release_without_the_page_is_refused(project: Path) -> None:
    """The error says what is missing and how to build it."""
    finished = build(project, release=True)

    assert finished.returncode != 0
    assert "index.html" in finished.stdout + finished.stderr
    assert "make page" in finished.stdout + finished.stderr


def test_a_release_with_half_a_page_is_refused(project: Path) -> None:
    """Each file that the index names must be there."""
    add_page(project, script=False)

    finished = build(project, release=True)

    assert finished.returncode != 0
    assert "assets/index-1.js" in finished.stdout + finished.stderr


def test_a_release_carries_the_page(project: Path) -> None:
    """The built files are in the wheel, although git does not keep them."""
    add_page(project)

    finished = build(project, release=True)

    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "recollect/server/static/index.html" in wheel_of(project)
    assert "recollect/server/static/assets/index-1.js" in wheel_of(project)


def test_a_build_from_source_needs_no_page(project: Path) -> None:
    """Without the page, and without Node, a wheel is built all the same."""
    finished = build(project, release=False)

    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert not [name for name in wheel_of(project) if "static" in name]


def add_source(project: Path, npm: str) -> str:
    """Add a page's source, and an *npm* of a few lines of shell; return the path to find it on."""
    (project / "web" / "src").mkdir(parents=True)
    for name in ("package.json", "package-lock.json", "src/main.ts"):
        (project / "web" / name).write_text("{}", "utf-8")
    programs = project / "programs"
    programs.mkdir()
    (programs / "npm").write_text(f"#!/bin/sh\necho $@ >> {project}/asked\n{npm}\n", "utf-8")
    (programs / "npm").chmod(0o755)
    return f"{programs}:/usr/bin:/bin"


NPM = """
case "$*" in
*bundle*)
    mkdir -p "$2/../src/recollect/server/static/assets"
    cp "$2/../made.html" "$2/../src/recollect/server/static/index.html"
    touch "$2/../src/recollect/server/static/assets/index-1.js"
    touch "$2/../src/recollect/server/static/assets/index-1.css" ;;
*) mkdir "$2/node_modules" ;;
esac
"""


def test_a_build_from_source_builds_the_page(project: Path) -> None:
    """Where npm is there; not again as long as nothing has changed that it is built from."""
    path = add_source(project, NPM)
    (project / "made.html").write_text(INDEX, "utf-8")
    index = project / STATIC / "index.html"

    counts = []
    for moved in (None, -60, 60):
        if moved is not None:
            now = index.stat().st_mtime
            os.utime(project / "web" / "src" / "main.ts", (now + moved, now + moved))
        finished = build(project, release=False, path=path)
        assert finished.returncode == 0, finished.stdout + finished.stderr
        counts.append((project / "asked").read_text("utf-8").count("bundle"))

    assert [1, 1, 2] == counts
    assert "recollect/server/static/assets/index-1.js" in wheel_of(project)
    assert 2 == (project / "asked").read_text("utf-8").count("ci --omit=dev")
    assert not (project / "web" / "node_modules").exists()


def test_what_make_page_has_fetched_is_used_and_stays(project: Path) -> None:
    """Nothing is fetched anew, and nothing of it is removed."""
    path = add_source(project, NPM)
    (project / "made.html").write_text(INDEX, "utf-8")
    kept = project / "web" / HOOK.KEPT
    kept.parent.mkdir()
    kept.touch()

    finished = build(project, release=False, path=path)

    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "ci" not in (project / "asked").read_text("utf-8").split()
    assert kept.exists()


@pytest.mark.parametrize("npm", ["echo no network >&2; exit 1", ""])
def test_a_page_that_cannot_be_built_is_one_sentence(project: Path, npm: str) -> None:
    """The wheel is built without it; a release is refused."""
    path = add_source(project, npm) if npm else ""
    if not npm:
        (project / "web").mkdir()

    finished = build(project, release=False, path=path)
    told = finished.stdout + finished.stderr
    refused = build(project, release=True, path=path)

    assert finished.returncode == 0, told
    assert ("npm failed: no network" if npm else "there is no npm") in told
    assert "install Node 20 or newer with npm" in told
    assert not [name for name in wheel_of(project) if "static" in name]
    assert refused.returncode != 0


@pytest.mark.slow
def test_a_clone_that_is_installed_has_the_page(tmp_path: Path) -> None:
    """`pip install` of what git keeps, where nothing was built before, brings the whole page."""
    if shutil.which("npm") is None:
        pytest.skip("Node is not installed: the page is built where it is")
    clone, packages = tmp_path / "clone", tmp_path / "packages"
    copy_clone(ROOT, clone)
    install: list[str | Path] = [
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--target",
        packages,
    ]
    subprocess.run([sys.executable, "-m", "pip", *install, clone], check=True)

    page = packages / "recollect" / "server" / "static"
    assert [] == HOOK.missing_of(page)
    assert not (clone / "web" / "node_modules").exists()


@pytest.mark.parametrize("folder", ["web", "tests/mcp/inspector", "clients/typescript"])
def test_the_lock_names_no_registry(folder: str) -> None:
    """Packages are fixed by digest; where they come from is for who installs to say."""
    lock = (ROOT / folder / "package-lock.json").read_text("utf-8")

    assert '"resolved"' not in lock
    assert "registry." not in lock
    assert '"integrity"' in lock
