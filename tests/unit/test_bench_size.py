"""What an installation takes is counted by package, each file once."""

import json
from importlib.util import cache_from_source
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import install_size as size
from benchmarks.program import main


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install two packages, one of which needs the other, and return their folder."""
    place(tmp_path, "Made_up-One", {"made_up.py": 100}, requires=("made.up.two>=1",))
    place(
        tmp_path,
        "made-up-two",
        {"two.py": 10, "two.bin": 1_000},
        requires=('made-up-absent; python_version < "3"', 'made-up-one; extra == "fast"'),
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def place(folder: Path, name: str, files: dict[str, int], *, requires: tuple[str, ...]) -> None:
    """Install a package of *files* of so many bytes."""
    information = folder / f"{name.lower().replace('-', '_')}-1.0.dist-info"
    information.mkdir()
    for file, size_bytes in files.items():
        folder.joinpath(file).write_bytes(b"#" * size_bytes)
    lines = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1.0"]
    lines += [f"Requires-Dist: {each}" for each in requires]
    information.joinpath("METADATA").write_text("\n".join(lines) + "\n", "utf-8")
    information.joinpath("RECORD").write_text("".join(f"{each},,\n" for each in files), "utf-8")


@pytest.mark.usefixtures("installed")
def test_what_is_needed_is_followed() -> None:
    """However a name is written; what is absent, or of an extra that nobody asked for, is not."""
    assert {"made-up-one", "made-up-two"} == size.needed_by("made-up-one")
    assert {"made-up-two"} == size.needed_by("made-up-two")
    assert {"made-up-one", "made-up-two"} == size.needed_by("made-up-two", "fast")


def test_what_python_compiled_is_counted(installed: Path) -> None:
    """Once, whether or not the installer listed it."""
    compiled = Path(cache_from_source(str(installed / "two.py")))
    compiled.parent.mkdir()
    compiled.write_bytes(b"#" * 500)

    once = size.distribution_bytes("made-up-two")
    record = installed / "made_up_two-1.0.dist-info" / "RECORD"
    record.write_text(record.read_text("utf-8") + f"{compiled.relative_to(installed)},,\n", "utf-8")

    assert (1_510, 1_510) == (once, size.distribution_bytes("made-up-two"))


def test_the_command_prints_every_package_beside_the_control(tmp_path: Path) -> None:
    """The control is the same without the embedder; the parts sum to the whole."""
    report = tmp_path / "size.json"

    printed = CliRunner().invoke(main, ["size", "--json", str(report)]).stdout

    found = json.loads(report.read_text("utf-8"))
    core = sum(part["bytes"] for part in found["parts"] if not part["for_embedder"])
    assert {"recollect", "numpy", "apsw", "tqdm"} <= {part["name"] for part in found["parts"]}
    assert found["total_bytes"] == sum(part["bytes"] for part in found["parts"])
    assert found["without_embedder_bytes"] == core < found["total_bytes"]
    assert f"control, without the embedder: {core / 1e6:,.1f} MB" in printed
