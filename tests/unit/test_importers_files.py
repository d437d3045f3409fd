"""Files come packed, broken, cut off and in the wrong encoding, and what can be read is read."""

import gzip
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from recollect.errors import NotFoundError, UsageError
from recollect.importers import Incoming, Refused, Row, open_source, read_rows
from recollect.importers.input_files import LINE_BYTES_MAX
from recollect.importers.json_stream import CutOffError, Scanner
from recollect.text.coded_text import CodedText

COUNT = 300


def row(number: int, text: str = "hello") -> str:
    """Return one message row as a line."""
    return json.dumps(
        {"conversation_id": "c", "message_id": f"m{number}", "role": "user", "text": text}
    )


def rows_in(path: Path) -> list[Row]:
    """Read the file at *path*."""
    with open_source(str(path)) as source:
        return list(read_rows(source))


def written(folder: Path, content: bytes, name: str = "talk.jsonl") -> Path:
    """Write *content* to a file in *folder*."""
    path = folder / name
    path.write_bytes(content)
    return path


def kept(rows: list[Row]) -> list[str | None]:
    """Return the ids of the messages among *rows*."""
    return [each.message.id for each in rows if isinstance(each, Incoming)]


def refused(rows: list[Row]) -> list[Refused]:
    """Return what was refused among *rows*."""
    return [each for each in rows if isinstance(each, Refused)]


PLAIN = "".join(f"{row(number)}\n" for number in range(COUNT)).encode()
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gz": gzip.compress,
    "xz": lzma.compress,
}


@pytest.mark.parametrize("packed", PACKED)
def test_a_packed_file_is_recognised_by_what_is_in_it(packed: str, tmp_path: Path) -> None:
    """Its name does not matter."""
    path = written(tmp_path, PACKED[packed](PLAIN), "talk.dat")

    found = rows_in(path)

    assert COUNT == len(kept(found))
    assert [] == refused(found)


@pytest.mark.parametrize("packed", ["gz", "xz"])
def test_a_packed_file_that_was_cut_off_keeps_what_came_before(packed: str, tmp_path: Path) -> None:
    """The cut is the last thing that is told."""
    incompressible = "".join(
        f"{row(number, repr(hash((number, 'x'))))}\n" for number in range(COUNT)
    )
    content = PACKED[packed](incompressible.encode())
    path = written(tmp_path, content[: len(content) * 2 // 3])

    found = rows_in(path)

    assert 0 < len(kept(found)) < COUNT
    assert [each.is_cut for each in refused(found)] == [True]
    assert isinstance(found[-1], Refused)
    assert "cut off" in found[-1].reason


def test_a_damaged_packed_file_says_so(tmp_path: Path) -> None:
    """A wrong checksum is no silent end."""
    content = bytearray(gzip.compress(PLAIN, mtime=0))
    content[-6] ^= 0xFF
    path = written(tmp_path, bytes(content))

    found = rows_in(path)

    assert COUNT == len(kept(found))
    assert "cannot be read further" in refused(found)[0].reason


def test_a_plain_file_that_was_cut_off_keeps_what_came_before(tmp_path: Path) -> None:
    """The half line is named as what it is."""
    path = written(tmp_path, PLAIN[:-20])

    found = rows_in(path)

    assert COUNT - 1 == len(kept(found))
    (cut,) = refused(found)
    assert (f"line {COUNT}", True) == (cut.place, cut.is_cut)
    assert "ends in the middle of this line" in cut.reason


def test_a_last_line_without_its_end_is_kept_if_it_is_whole(tmp_path: Path) -> None:
    """Not every program ends its last line."""
    found = rows_in(written(tmp_path, PLAIN[:-1]))

    assert COUNT == len(kept(found))


def test_a_line_over_the_limit_is_refused_alone(tmp_path: Path) -> None:
    """The limit is named; the lines around it are kept."""
    long = row(1, "x" * LINE_BYTES_MAX)
    path = written(tmp_path, f"{row(0)}\n{long}\n{row(2)}\n".encode())

    found = rows_in(path)

    assert ["m0", "m2"] == kept(found)
    (over,) = refused(found)
    assert "line 2" == over.place
    assert f"{LINE_BYTES_MAX} bytes, the limit LINE_BYTES_MAX" in over.reason


def test_a_document_on_one_line_may_be_longer_than_a_line(tmp_path: Path) -> None:
    """Its elements are read one by one."""
    messages = [{"role": "user", "content": "x" * (LINE_BYTES_MAX // 4)} for _ in range(5)]
    path = written(tmp_path, json.dumps(messages).encode(), "chat.json")

    found = rows_in(path)

    assert 5 == len(kept(found))
    assert [] == refused(found)


def test_a_line_that_is_not_utf8_is_refused_alone(tmp_path: Path) -> None:
    """The byte and its place are named."""
    broken = row(1).encode().replace(b"hello", b"hel\xfflo")
    path = written(tmp_path, f"{row(0)}\n".encode() + broken + f"\n{row(2)}\n".encode())

    found = rows_in(path)

    assert ["m0", "m2"] == kept(found)
    assert "not UTF-8 (byte 0xff at" in refused(found)[0].reason


@pytest.mark.parametrize(
    "line", ["not json", "{'a': 1}", "[" * 50_000, "1e999999 x", '{"a": "\x00"}']
)
def test_a_line_that_is_not_json_is_refused_alone(line: str, tmp_path: Path) -> None:
    """Also one that is nested too deeply to be read, or holds a raw control character."""
    path = written(tmp_path, f"{row(0)}\n{line}\n{row(2)}\n".encode())

    found = rows_in(path)

    assert ["m0", "m2"] == kept(found)
    assert "line 2" == refused(found)[0].place


def test_a_broken_first_line_does_not_hide_the_others(tmp_path: Path) -> None:
    """The form is seen from the second."""
    path = written(tmp_path, f"{row(0)[:-9]}\n{row(1)}\n{row(2)}\n".encode())

    found = rows_in(path)

    assert ["m1", "m2"] == kept(found)
    assert "line 1" == refused(found)[0].place


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    """Some programs begin UTF-8 with one."""
    found = rows_in(written(tmp_path, b"\xef\xbb\xbf" + PLAIN))

    assert COUNT == len(kept(found))


def test_blank_lines_are_passed_over(tmp_path: Path) -> None:
    """Line numbers count them all the same."""
    found = rows_in(written(tmp_path, f"\n\n{row(0)}\r\n \n{row(1)}\n".encode()))

    assert ["line 3", "line 5"] == [each.place for each in found]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"a,b\n1,2\n", "neither JSON Lines nor a JSON document"),
        (b"\xef\xbb\xbf", "neither JSON Lines nor a JSON document"),
        (row(0).encode("utf-16"), "is UTF-16"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "is not UTF-8"),
        (gzip.compress(b"", mtime=0), "is empty"),
        (gzip.compress(PLAIN, mtime=0)[:12], "cut off"),
    ],
)
def test_a_file_of_no_known_form_is_refused_in_one_sentence(
    content: bytes, said: str, tmp_path: Path
) -> None:
    """Nothing of it is taken."""
    path = written(tmp_path, content)

    with pytest.raises(UsageError, match=said):
        rows_in(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    """Each in its own sentence."""
    with pytest.raises(NotFoundError, match="there is no file"):
        rows_in(tmp_path / "missing.jsonl")
    with pytest.raises(UsageError, match="is a folder"):
        rows_in(tmp_path)
    with pytest.raises(UsageError, match="cannot be the path of a file"):
        rows_in(tmp_path / ("x" * 5_000))


def test_a_list_that_was_cut_off_keeps_the_elements_before(tmp_path: Path) -> None:
    """A document is read element by element."""
    messages = [{"role": "user", "content": f"message {number}"} for number in range(9)]
    path = written(tmp_path, json.dumps(messages, indent=1).encode()[:-70], "chat.json")

    found = rows_in(path)

    assert 7 == len(kept(found))
    assert [True] == [each.is_cut for each in refused(found)]
    assert "after element 7" == refused(found)[0].place


def test_a_chat_object_that_was_cut_off_keeps_the_messages_before(tmp_path: Path) -> None:
    """The messages inside an object are read one by one as well."""
    messages = [{"role": "user", "content": f"message {number}"} for number in range(9)]
    content = json.dumps({"model": "m", "messages": messages}, indent=1).encode()
    path = written(tmp_path, content[:-80], "chat.json")

    found = rows_in(path)

    assert 7 == len(kept(found))
    assert [True] == [each.is_cut for each in refused(found)]


CALM = '{"role": "user", "content": "hi"}'


@pytest.mark.parametrize(
    ("content", "code", "place"),
    [
        (f'[\n  {CALM},\n  {{"role": "user", "content": "a\nb"}}\n]', "broken_document", (3, 33)),
        (f"[{CALM}\n{CALM}]", "broken_document", (2, 1)),
        (f"\n\n[\n{CALM},\n{CALM},\n nul]", "broken_document", (6, 2)),
        ("[\n" + f"{CALM},\n" * 20_000 + " nul]", "broken_document", (20_002, 2)),
        (f"[{CALM},\n" + "1" * 5_000 + "]", "broken_document", (2, 1)),
        (f'[{CALM}, {{"role": "user", "content": "wh', "cut_document", None),
        (f"[{CALM},", "cut_document", None),
        (f"[{CALM}", "cut_document", None),
    ],
)
def test_a_fault_in_a_document_is_told_once_with_its_place(
    content: str, code: str, place: tuple[int, int] | None, tmp_path: Path
) -> None:
    """By line and column of the file, however much of it was dropped; a cut has no place."""
    (told,) = refused(rows_in(written(tmp_path, content.encode(), "chat.json")))
    reason = told.reason

    assert isinstance(reason, CodedText)
    assert code == reason.code
    assert place == ((reason.values["line"], reason.values["column"]) if place else None)
    assert 1 == reason.count("document")
    assert "kept" not in reason


def test_what_follows_a_document_is_not_lost_in_silence(tmp_path: Path) -> None:
    """It is refused, with what to do."""
    content = json.dumps([{"role": "user", "content": "a"}], indent=1) * 2
    path = written(tmp_path, content.encode(), "chat.json")

    found = rows_in(path)

    assert 1 == len(kept(found))
    assert "something follows the end" in refused(found)[0].reason


@pytest.mark.parametrize("chunk", [1, 2, 7, 1_000])
def test_a_document_reads_alike_however_it_arrives(chunk: int) -> None:
    """A read may end within a number, a text, or a character of several bytes."""
    value = [1234567, "naïve 猫 😀", {"a": [True, None, -1.5e3]}, "\\", []]
    content = json.dumps(value, ensure_ascii=False).encode()

    class Slow(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            """Return at most *chunk* bytes, whatever is asked for."""
            return super().read(min(chunk, size) if size and size > 0 else chunk)

    found = list(Scanner(Slow(content), b"").elements())

    assert value == found


@pytest.mark.parametrize("content", [b"[1, 2", b"[1 2]", b"[1,]", b"[", b"{", b'["a', b"[nul]"])
def test_a_broken_document_is_told_apart_from_a_whole_one(content: bytes) -> None:
    """No broken end is taken for the real one."""
    scanner = Scanner(io.BytesIO(content), b"")

    with pytest.raises(CutOffError):
        list(scanner.elements())
