"""`recollect import` and `recollect export`: what went in comes out, and nothing is lost unsaid."""

import json
import resource
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from click.testing import CliRunner, Result

from recollect.cli import main
from recollect.cli.commands.import_files import REFUSED_SHOWN_MAX
from recollect.errors import EXIT_STATUS
from recollect.formation.scope_types import settings_write
from recollect.importers import BATCH_ROWS
from recollect.importers.form_detection import MISCOUNTED, UNENDED
from recollect.importers.mem0 import UNLED
from recollect.stores.locator import open_store
from recollect.wire.record_digests import Digest

ROW: Mapping[str, object] = {
    "conversation_id": "c",
    "timestamp": "2024-05-06T12:00:00",
    "speaker": "Ann",
    "role": "contact",
}


@pytest.fixture
def store(tmp_path: Path) -> str:
    """Name a store that does not exist yet."""
    return str(tmp_path / "store.db")


def invoke(store: str, *arguments: str, stdin: str | None = None) -> Result:
    """Run a command on *store*, without an embedder."""
    environment = {
        "RECOLLECT_STORE": store,
        "RECOLLECT_SCOPE": None,
        "RECOLLECT_EMBEDDER": "none",
        "COLUMNS": "100",
    }
    return CliRunner(env=environment).invoke(main, list(arguments), input=stdin)


def rows(count: int, **changed: object) -> str:
    """Return message rows as JSON Lines."""
    return "".join(
        json.dumps({**ROW, "message_id": f"m{number}", "text": f"text {number}", **changed}) + "\n"
        for number in range(count)
    )


def written(folder: Path, content: str, name: str = "talk.jsonl") -> str:
    """Write *content* to a file and return its path."""
    path = folder / name
    path.write_text(content, "utf-8")
    return str(path)


def test_the_report_counts_every_row(store: str, tmp_path: Path) -> None:
    """As JSON, when nobody looks on."""
    file = written(tmp_path, rows(3) + "not json\n" + rows(1))

    result = invoke(store, "import", file, "--scope", "a/b")

    assert json.loads(result.stdout) == {
        "scopes": [["a", "b"]],
        "timezone": "UTC",
        "files": [
            {
                "name": "talk.jsonl",
                "rows": 5,
                "taken": 3,
                "present": 1,
                "refused": 1,
                "threads": 1,
                "zoneless": 4,
                "undated": 0,
                "is_cut": False,
                "memories": 0,
                "changed": {},
                "erased": 0,
                "is_stopped": False,
            }
        ],
        "refused": 1,
        "refusals": [
            {
                "file": file,
                "place": "line 4",
                "reason": "it is not JSON (Expecting value: line 1 column 1 (char 0))",
            }
        ],
    }


def test_refused_rows_give_status_1(store: str, tmp_path: Path) -> None:
    """The others are kept, and the reason is on standard error."""
    file = written(tmp_path, rows(2) + "not json\n")

    result = invoke(store, "import", file, "--table")

    assert 1 == result.exit_code
    assert "talk.jsonl: 3 rows: 2 new, 0 there already, 1 refused; 1 thread" in result.stdout
    assert f"refused {file}, line 3: it is not JSON" in result.stderr


def test_a_whole_file_gives_status_0_and_again_changes_nothing(store: str, tmp_path: Path) -> None:
    """Repeating an import is safe."""
    file = written(tmp_path, rows(3))

    first = invoke(store, "import", file, "--table")
    second = invoke(store, "import", file, "--table")

    assert (0, 0) == (first.exit_code, second.exit_code)
    assert "3 new, 0 there already" in first.stdout
    assert "0 new, 3 there already" in second.stdout


def test_times_without_a_zone_are_told(store: str, tmp_path: Path) -> None:
    """With the zone in which they were taken to be."""
    file = written(tmp_path, rows(2) + rows(1, message_id="later", timestamp=None))

    result = invoke(store, "import", file, "--timezone", "+08:00", "--table")
    listed = json.loads(invoke(store, "threads", "c").stdout)

    assert "2 times without a zone: taken to be +08:00" in result.stdout
    assert "1 message without a time: dated by the store" in result.stdout
    assert "2024-05-06T04:00:00Z" == listed["messages"][0]["time"]


def test_many_refusals_are_shown_in_part_and_written_in_full(store: str, tmp_path: Path) -> None:
    """Twenty on the screen, all in the file, which only its owner may read."""
    file = written(tmp_path, rows(30, role="robot"))
    refused = tmp_path / "refused.jsonl"

    result = invoke(store, "import", file, "--refused", str(refused), "--table")

    assert REFUSED_SHOWN_MAX == result.stderr.count("unknown role")
    assert "and 10 more; --refused FILE writes all" in result.stderr
    assert [f"line {number}" for number in range(1, 31)] == [
        json.loads(line)["place"] for line in refused.read_text("utf-8").splitlines()
    ]
    assert 0o600 == stat.S_IMODE(refused.stat().st_mode)


def test_a_file_that_breaks_off_is_told(store: str, tmp_path: Path) -> None:
    """What came before is kept."""
    result = invoke(store, "import", written(tmp_path, rows(3)[:-15]), "--table")

    assert 1 == result.exit_code
    assert "2 new" in result.stdout
    assert "the file breaks off: what came before was kept" in result.stdout


def test_of_a_file_that_is_broken_from_its_beginning_nothing_is_called_kept(
    store: str, tmp_path: Path
) -> None:
    """The reason stands once, with where the fault is."""
    content = '[\n{"role": "user", "content": "a\nb"}]'
    result = invoke(store, "import", written(tmp_path, content, "chat.json"), "--table")

    assert "the file breaks off: nothing was kept" in result.stdout
    assert "the document is broken at line 2, column 31: invalid control char" in result.stderr


def test_what_was_erased_is_told_and_brought_back_by_name(store: str, tmp_path: Path) -> None:
    """It is left out and counted, which is no failure; --restore-erased keeps it again."""
    file = written(tmp_path, rows(2))
    invoke(store, "import", file)
    invoke(store, "erase", "--everything", "--yes")

    again = invoke(store, "import", file, "--table")
    back = invoke(store, "import", file, "--table", "--restore-erased")

    assert (0, 0) == (again.exit_code, back.exit_code)
    assert "2 rows: 0 new" in again.stdout
    assert "erased here before, and left out: 2 rows; --restore-erased" in again.stdout
    assert "2 rows: 2 new" in back.stdout


def test_a_file_makes_no_key_of_the_service(store: str, tmp_path: Path) -> None:
    """Whoever is sent an export lets nobody in by importing it; wrong settings stay out."""
    record = {
        "kind": "side",
        "scope": ["recollect:service", "keys"],
        "thread": None,
        "side_kind": "ServiceKey",
        "key": "0" * 16,
        "version": 1,
        "value": {"digest": "0" * 64},
        "created_at": 1,
        "updated_at": 1,
        "expires_at": None,
    }
    wrong = {**record, "scope": ["a"], "side_kind": "ScopeSettings", "key": "ScopeSettings"}
    lines = "".join(json.dumps(each) + "\n" for each in (record, wrong))

    result = invoke(store, "import", written(tmp_path, lines), "--table")

    assert 1 == result.exit_code
    assert "2 rows: 0 new, 0 there already, 2 refused" in result.stdout
    assert "which an import cannot write" in result.stderr
    assert "hold 'types' alone" in result.stderr


def test_settings_that_cannot_be_used_are_told(store: str) -> None:
    """By `doctor`, with the scope, which the log does not name."""

    async def keep() -> None:
        async with open_store(store) as kept:
            put = settings_write([{}])
            await kept.apply(("acme", "ada"), [put])

    anyio.run(keep)

    result = invoke(store, "doctor")

    told = json.loads(result.stdout)
    assert (2, False) == (result.exit_code, told["ok"])
    assert "acme/ada: its settings are invalid" in told["problems"][0]["sentence"]


def test_standard_input_is_read(store: str) -> None:
    """As `-`."""
    result = invoke(store, "import", "-", "--table", stdin=rows(2))

    assert "stdin: 2 rows: 2 new" in result.stdout


def test_all_names_are_checked_before_the_first_file(store: str, tmp_path: Path) -> None:
    """A misspelt name costs nothing."""
    file = written(tmp_path, rows(1))

    result = invoke(store, "import", file, str(tmp_path / "missing.jsonl"))

    assert 3 == result.exit_code
    assert "there is no file" in result.stderr
    assert not Path(store).exists()


def test_a_file_of_no_known_form_does_not_hide_what_was_kept(store: str, tmp_path: Path) -> None:
    """The report of the files before it is printed all the same."""
    good, bad = written(tmp_path, rows(2)), written(tmp_path, "a,b\n", "table.csv")

    result = invoke(store, "import", good, bad, "--table")

    assert 2 == result.exit_code
    assert "talk.jsonl: 2 rows: 2 new" in result.stdout
    assert "neither JSON Lines nor a JSON document" in result.stderr


@contextmanager
def no_file_above(size_bytes: int) -> Iterator[None]:
    """Let no file of this process grow beyond *size_bytes*, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_what_was_left_out_is_told_with_its_count(store: str, tmp_path: Path) -> None:
    """So that one reads as well as many."""
    before = {"memory_id": "n1", "event": "ADD", "new_memory": "Likes cocoa", "created_at": 1}
    memory = {"id": "n1", "memory": "Likes tea", "history": [before]}
    file = written(tmp_path, json.dumps(memory) + "\n", "mem0.jsonl")

    told = invoke(store, "import", file, "--table").stdout

    assert f"  {UNLED}: 1\n" in told


@pytest.mark.parametrize("form", ["--table", "--json"])
def test_an_import_that_stops_says_what_it_kept(store: str, tmp_path: Path, form: str) -> None:
    """Then comes the error with its status; the same import again takes the rest."""
    count = 4 * BATCH_ROWS
    file = written(tmp_path, "not json\n" + rows(count, more="word " * 60))

    with no_file_above(1_000_000):
        stopped = invoke(store, "import", file, form)
    told = json.loads(invoke(store, "import", file, "--json").stdout)["files"][0]

    assert EXIT_STATUS["unavailable"] == stopped.exit_code
    kept = told["present"]
    assert 0 < kept < count == kept + told["taken"]
    assert not told["is_stopped"]
    if form == "--json":
        said = json.loads(stopped.stdout)
        first = said["files"][0]
        assert (kept + 1, kept, 0, 1) == tuple(
            first[name] for name in ("rows", "taken", "present", "refused")
        )
        assert first["is_stopped"]
        assert ["line 1"] == [each["place"] for each in said["refusals"]]
    else:
        assert f"{kept:,} new, 0 there already, 1 refused; 1 thread" in stopped.stdout
        assert "stopped by an error: import it again to continue" in stopped.stdout
    assert "line 1: it is not JSON" in stopped.stderr


def test_an_unknown_zone_is_refused(store: str, tmp_path: Path) -> None:
    """Before anything is kept."""
    result = invoke(store, "import", written(tmp_path, rows(1)), "--timezone", "Mars")

    assert 2 == result.exit_code
    assert not Path(store).exists()


def test_an_export_can_be_imported_into_another_store(store: str, tmp_path: Path) -> None:
    """The copy exports the same lines."""
    invoke(store, "import", "-", "--scope", "a/b", stdin=rows(3))
    copy = str(tmp_path / "copy.db")

    exported = invoke(store, "export", "--scope", "a/b")
    imported = invoke(copy, "import", "-", "--table", stdin=exported.stdout)
    again = invoke(copy, "export", "--scope", "a/b")

    assert ["thread", "message", "message", "message", "end"] == [
        json.loads(line)["kind"] for line in exported.stdout.splitlines()
    ]
    *records, last = map(json.loads, exported.stdout.splitlines())
    digest = Digest()
    digest.add(records)
    assert digest.end_record() == last
    assert "in a/b" in imported.stdout
    assert exported.stdout == again.stdout


@pytest.mark.parametrize(
    ("lines", "warning"),
    [(slice(None), ""), (slice(3), UNENDED), (slice(0), ""), (slice(1, None), MISCOUNTED)],
)
def test_an_export_that_may_have_been_cut_is_told(
    store: str, tmp_path: Path, lines: slice, warning: str
) -> None:
    """At a line too, where it looks whole; what is there is taken all the same."""
    invoke(store, "import", "-", "--scope", "a/b", stdin=rows(3))
    exported = invoke(store, "export", "--scope", "a/b").stdout.splitlines(keepends=True)
    file = written(tmp_path, rows(1) + "".join(exported[lines]))

    result = invoke(str(tmp_path / "copy.db"), "import", file, "--json")

    told = json.loads(result.stdout)["files"][0]
    assert ({warning: 1} if warning else {}) == told["changed"]
    assert (0, 0, 1 + len([each for each in exported[lines] if '"end"' not in each])) == (
        result.exit_code,
        told["refused"],
        told["taken"],
    )


def test_an_export_goes_below_only_when_asked(store: str) -> None:
    """A scope names exactly itself."""
    for scope in ("a", "a/b", "ab"):
        invoke(store, "import", "-", "--scope", scope, stdin=rows(1))

    itself = invoke(store, "export", "--scope", "a")
    below = invoke(store, "export", "--scope", "a", "--below")

    assert [2, 4] == [json.loads(each.stdout.splitlines()[-1])["count"] for each in (itself, below)]


def test_an_exported_file_is_private_and_not_replaced(store: str, tmp_path: Path) -> None:
    """Without --force an existing one is left as it is."""
    invoke(store, "import", "-", stdin=rows(1))
    target = tmp_path / "out.jsonl"

    first = invoke(store, "export", "--output", str(target))
    target.write_text("mine", "utf-8")
    second = invoke(store, "export", "--output", str(target))
    forced = invoke(store, "export", "--output", str(target), "--force")

    assert (0, 2, 0) == (first.exit_code, second.exit_code, forced.exit_code)
    assert 3 == len(target.read_text("utf-8").splitlines())
    assert 0o600 == stat.S_IMODE(target.stat().st_mode)
    assert [] == list(tmp_path.glob(".out.jsonl*"))


def test_an_export_that_cannot_be_written_says_so(store: str, tmp_path: Path) -> None:
    """In one sentence."""
    invoke(store, "import", "-", stdin=rows(1))

    result = invoke(store, "export", "--output", str(tmp_path / "no" / "out.jsonl"))

    assert 2 == result.exit_code
    assert 1 == len(result.stderr.splitlines())
