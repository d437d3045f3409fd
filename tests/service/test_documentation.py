"""The commands of docs/service.md do what it says, one after the other, with a real curl."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import httpx

from recollect.server import Settings
from recollect.server.testing import Served

PAGE = Path(__file__).parents[2] / "docs" / "service.md"
RUN_S_MAX = 120


def commands() -> Sequence[str]:
    """Return the blocks of the page that ask the service."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return [each for each in blocks if "curl" in each]


def test_every_command_of_the_page_works(
    served: Served, client: httpx.Client, tmp_path: Path
) -> None:
    """No request of the page is refused, and what they leave is there."""
    program = ["set -eo pipefail", 'curl() { command curl -sS --fail-with-body "$@"; echo; }']
    environment = {"URL": served.url, "KEY": served.key, "PATH": "/usr/bin:/bin:/usr/local/bin"}

    ran = subprocess.run(
        ["bash", "-c", "\n".join([*program, *commands()])],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=RUN_S_MAX,
        check=False,
    )

    assert 0 == ran.returncode, ran.stdout[-500:] + ran.stderr
    assert len(commands()) >= 6
    assert "We moved to Oslo" in ran.stdout
    scopes = client.get("/v1/scopes", params={"below": True}).json()["scopes"]
    assert ["copy", "users", "ada"] in scopes


def test_every_setting_is_in_the_page() -> None:
    """The table of settings leaves none out."""
    text = PAGE.read_text("utf-8")

    assert [name for name in Settings.__dataclass_fields__ if f"`{name}`" not in text] == []
