"""A release carries the page, or is not built; an install from source needs neither it nor Node."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
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


def build(project: Path, *, release: bool) -> subprocess.CompletedProcess[str]:
    """Build a wheel of *project*, with no program in reach but Python."""
    return subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "dist"],
        cwd=project,
        env={**os.environ, "PATH": "", "RECOLLECT_RELEASE": "1" if release else "0"},
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


@pytest.mark.parametrize("folder", ["web", "tests/mcp/inspector"])
def test_the_lock_names_no_registry(folder: str) -> None:
    """Packages are fixed by digest; where they come from is for who installs to say."""
    lock = (ROOT / folder / "package-lock.json").read_text("utf-8")

    assert '"resolved"' not in lock
    assert "registry." not in lock
    assert '"integrity"' in lock
