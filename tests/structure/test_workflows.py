"""What runs elsewhere: each action is pinned, a password is in no file, and a release agrees."""

import re
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted(ROOT.glob(".github/workflows/*.yml"))
_PINNED = re.compile(r"[\w-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")


def loose_actions(text: str) -> list[str]:
    """Return the actions of a workflow that are not pinned to a commit, with its version beside."""
    used = re.findall(r"^\s*(?:- )?uses: (.+)$", text, re.MULTILINE)
    return [each for each in used if not _PINNED.fullmatch(each)]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_runs_what_it_names_and_may_do_little(path: Path) -> None:
    """Actions are pinned; it may read by default, and no secret is passed to a step."""
    text = path.read_text("utf-8")

    assert loose_actions(text) == []
    assert "\npermissions:\n  contents: read\n" in text
    assert "secrets." not in text


def test_an_action_that_may_change_is_reported() -> None:
    assert loose_actions("      - uses: actions/checkout@v4\n") == ["actions/checkout@v4"]


def test_a_release_is_published_without_a_password() -> None:
    """By trusted publishing: the right to an identity is that of one job alone."""
    text = ROOT.joinpath(".github/workflows/release.yml").read_text("utf-8")

    assert text.count("id-token: write") == 1
    assert "environment: release" in text


def test_what_the_workflows_test_is_what_is_declared() -> None:
    """The Pythons of the matrix are those of the classifiers."""
    declared = re.findall(r"Python :: (3\.\d+)", ROOT.joinpath("pyproject.toml").read_text("utf-8"))
    matrix = re.findall(
        r"python: \[(.+)\]", ROOT.joinpath(".github/workflows/test.yml").read_text("utf-8")
    )

    assert [re.findall(r"3\.\d+", each) for each in matrix] == [declared, declared]


def test_every_test_runs_on_the_python_that_its_job_names() -> None:
    text = ROOT.joinpath(".github/workflows/test.yml").read_text("utf-8")
    everything = text.partition("\n  everything:")[2].partition("\n  wheel:")[0]
    steps = re.findall(r"^ +- run: (.+)$", everything, re.MULTILINE)

    assert steps == ["make setup PYTHON=python${{ matrix.python }}", "bash .ci/run"]


def complaints(tag: str, root: Path) -> list[str]:
    """Return what tools/check_release says of a tag and a project."""
    path = ROOT / "tools" / "check_release"
    spec = spec_from_loader("check_release", SourceFileLoader("check_release", str(path)))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    found: list[str] = module.complaints(tag, root)
    return found


def test_a_release_agrees_with_its_tag(tmp_path: Path) -> None:
    """The tag, both places of the version, and a dated section of the changelog."""
    package = tmp_path / "src" / "recollect"
    package.mkdir(parents=True)
    package.joinpath("__init__.py").write_text('__version__ = "1.2.3"\n', "utf-8")
    tmp_path.joinpath("pyproject.toml").write_text('[project]\nversion = "1.2.3"\n', "utf-8")
    tmp_path.joinpath("CHANGELOG.md").write_text("## [1.2.3] - 2026-12-01\n", "utf-8")

    assert complaints("v1.2.3", tmp_path) == []
    assert len(complaints("v1.2.4", tmp_path)) == 3
    assert len(complaints("1.2.3", tmp_path)) == 1
    tmp_path.joinpath("CHANGELOG.md").write_text("## [1.2.3]\n", "utf-8")
    assert len(complaints("v1.2.3", tmp_path)) == 1
