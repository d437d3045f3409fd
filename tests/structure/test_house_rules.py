"""What must not stand in the source or in any file of the project, and that the gate sees it."""

import ast
import re
import socket
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILE_BYTES_MAX = 2_000_000

# Reading these runs code that the bytes choose.
UNSAFE_MODULES = frozenset({"pickle", "cPickle", "_pickle", "dill", "joblib", "marshal", "shelve"})
UNSAFE_CALLS = frozenset({"eval", "exec", "yaml.load", "yaml.unsafe_load", "builtins.eval"})
BROAD_ERRORS = frozenset({"Exception", "BaseException"})
# Their outermost frame turns what nobody expected into an exit status, an answer or a retry.
OUTERMOST = frozenset({"cli", "worker", "server"})
# Code of strangers, which may raise anything, is called here.
FOREIGN = frozenset(
    {
        "embedders/adapters.py",
        "providers/provider_errors.py",
        "integrations/langchain/outside_vector_store.py",
    }
)

# Optional parts that the tests use for real.
TESTED_EXTRAS = (
    *("dotenv", "langchain", "openai", "anthropic", "openai-agents", "pydantic-ai"),
    *("agent-framework", "llama-index", "smolagents", "postgres", "redis", "chroma", "lancedb"),
    *("pinecone", "service", "mcp", "client", "dev"),
)

# Readers of an error know a scope as demo/mira, as the program takes it, not as Python's tuple.
SCOPE_AS_TUPLE = re.compile(r"\{[\w.]*(?:scope|segments)!r\}")
# What is not accepted as a scope, or is a function, has no such form.
NO_SCOPE_YET = frozenset({"stores/validation.py", "integrations/google_adk/memory_service.py"})

# Put together here, so that this file passes its own gate.
_MACHINE_FOLDERS = ("home", "root", "work", "Users")
MACHINE_PATH = re.compile(r"(?<![\w.~])/(?:" + "|".join(_MACHINE_FOLDERS) + r")/")
_REGISTRIES = (
    ("pypi", "org"),
    ("pythonhosted", "org"),
    ("npmjs", "org"),
    ("npmjs", "com"),
    ("yarnpkg", "com"),
    ("crates", "io"),
    ("anaconda", "org"),
)
REGISTRY_HOST = re.compile(
    "|".join(re.escape(".".join(name)) for name in _REGISTRIES), re.IGNORECASE
)
LOCK_NAMES = frozenset({"uv.lock", "poetry.lock", "pdm.lock", "pylock.toml", "Pipfile.lock"})
LOCK_ADDRESS = re.compile(
    r'"resolved": "http|^ *resolved "http|tarball: http| @ http|^ *--(?:extra-)?index-url'
    r"|^ *--find-links|^ *--trusted-host",
    re.MULTILINE,
)


def unsafe_imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and name of every module imported whose reading runs code."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named = [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            named = [(node.lineno, node.module)]
        else:
            continue
        yield from (pair for pair in named if pair[1].split(".", 1)[0] in UNSAFE_MODULES)


def call_complaint(call: ast.Call) -> str | None:
    """Return what is wrong with a call, if anything is."""
    called = ast.unparse(call.func)
    if called in UNSAFE_CALLS:
        return f"{called}() runs what its argument says: parse it strictly instead"
    if isinstance(call.func, ast.Attribute) and call.func.attr in {"format", "format_map"}:
        return ".format() reads fields out of its template: use an f-string, or replace by name"
    if any(
        word.arg == "allow_pickle" and ast.unparse(word.value) != "False" for word in call.keywords
    ):
        return "allow_pickle runs what the file says: store plain arrays"
    if called in {"suppress", "contextlib.suppress"} and names_broad_error(call.args):
        return "suppress() of everything hides faults: name the errors that are expected"
    return None


def names_broad_error(nodes: list[ast.expr]) -> bool:
    """Return True if one of *nodes*, or of the tuples among them, is Exception or BaseException."""
    names = (
        part for node in nodes for part in (node.elts if isinstance(node, ast.Tuple) else [node])
    )
    return any(ast.unparse(name).rpartition(".")[2] in BROAD_ERRORS for name in names)


def swallows_everything(handler: ast.ExceptHandler) -> bool:
    """Return True if *handler* catches every error and does not end by raising it again."""
    if handler.type is not None and not names_broad_error([handler.type]):
        return False
    last = handler.body[-1]
    return not (isinstance(last, ast.Raise) and last.exc is None)


def source_complaints(text: str, name: str) -> list[str]:
    """Say what the module at *name* below ``src/recollect`` does that the house forbids."""
    tree = ast.parse(text)
    found = [f"{name}:{line} {module} runs what it reads" for line, module in unsafe_imports(tree)]
    broad: list[int] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (complaint := call_complaint(node)):
            found.append(f"{name}:{node.lineno} {complaint}")
        elif isinstance(node, ast.ExceptHandler) and swallows_everything(node):
            broad.append(node.lineno)
    first = name.split("/", 1)[0].removesuffix(".py")
    allowed = 1 if first in OUTERMOST or name in FOREIGN else 0
    found += [
        f"{name}:{line} catches everything: name the errors, or let the outermost frame have it"
        for line in broad[allowed:]
    ]
    return found


def file_complaints(text: str, name: str) -> list[str]:
    """Say what the file at *name* carries of a machine or of a package registry."""
    found = []
    for what, pattern in (("path of a machine", MACHINE_PATH), ("registry's host", REGISTRY_HOST)):
        found += [f"{name}: {what}: {match[0]!r}" for match in pattern.finditer(text)]
    if is_lock(name) and (name.rsplit("/", 1)[-1] in LOCK_NAMES or LOCK_ADDRESS.search(text)):
        found.append(f"{name}: a lock file with download addresses: pin versions and hashes only")
    return found


def is_lock(name: str) -> bool:
    """Return True if a file of this name pins what others install."""
    last = name.rsplit("/", 1)[-1]
    return (
        last in LOCK_NAMES
        or last in {"package-lock.json", "yarn.lock", "pnpm-lock.yaml"}
        or name.startswith("requirements")
    )


def project_files() -> Iterator[tuple[str, str]]:
    """Yield name and text of every file that is, or is about to be, under version control."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout
    for name in sorted(set(listed.decode().split("\0")) - {""}):
        path = ROOT / name
        if not path.is_file() or path.stat().st_size > FILE_BYTES_MAX:
            continue
        try:
            yield name, path.read_text("utf-8")
        except UnicodeDecodeError:
            continue


def test_the_source_keeps_the_house_rules() -> None:
    """No module runs data as code, formats with data as template, or swallows every error."""
    folders = (ROOT / "src" / "recollect", ROOT / "benchmarks", ROOT / "tests" / "harness")

    found = [
        complaint
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
        for complaint in source_complaints(
            path.read_text("utf-8"), path.relative_to(folder).as_posix()
        )
    ]

    assert found == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("recall/fusion.py", "import pickle"),
        ("recall/fusion.py", "from marshal import loads"),
        ("recall/fusion.py", "def f():\n    import shelve"),
        ("recall/fusion.py", "eval('1')"),
        ("recall/fusion.py", "exec(text)"),
        ("recall/fusion.py", "yaml.load(text)"),
        ("recall/fusion.py", "'{}'.format(text)"),
        ("recall/fusion.py", "template.format_map(values)"),
        ("recall/fusion.py", "numpy.load(path, allow_pickle=True)"),
        ("recall/fusion.py", "try:\n    f()\nexcept Exception:\n    pass"),
        (
            "recall/fusion.py",
            "try:\n    f()\nexcept (KeyError, Exception) as error:\n    print(error)",
        ),
        ("recall/fusion.py", "try:\n    f()\nexcept:\n    pass"),
        ("recall/fusion.py", "try:\n    f()\nexcept Exception as e:\n    raise StoreError from e"),
        ("recall/fusion.py", "with contextlib.suppress(Exception):\n    f()"),
        ("worker/run.py", "try:\n    f()\nexcept Exception:\n    pass\n" * 2),
    ],
)
def test_a_broken_house_rule_is_reported(name: str, text: str) -> None:
    """The gate sees each thing that it forbids."""
    assert len(source_complaints(text, name)) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("recall/fusion.py", "import json\nre.compile('x')\nf'{text}'\nformat(1.5, '.2f')"),
        ("recall/fusion.py", "numpy.load(path, allow_pickle=False)"),
        ("stores/sqlite/unit.py", "try:\n    f()\nexcept BaseException:\n    undo()\n    raise"),
        ("cli/main.py", "try:\n    f()\nexcept Exception:\n    report()"),
    ],
)
def test_what_the_house_allows_is_not_reported(name: str, text: str) -> None:
    """The gate lets safe look-alikes, a rollback and an outermost frame pass."""
    assert source_complaints(text, name) == []


def test_no_text_names_a_scope_as_a_tuple() -> None:
    """Errors write a scope as demo/mira."""
    package = ROOT / "src" / "recollect"
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if SCOPE_AS_TUPLE.search(path.read_text("utf-8"))
    }

    assert NO_SCOPE_YET == found
    assert SCOPE_AS_TUPLE.search('f"Fact/home in {self.scope.segments!r}"')


def test_no_file_carries_a_machine_or_a_registry() -> None:
    """Every file reads the same wherever the project is cloned and whatever index is used."""
    found = [
        complaint for name, text in project_files() for complaint in file_complaints(text, name)
    ]

    assert found == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("docs/tutorial.md", f"cd /{_MACHINE_FOLDERS[2]}/ada"),
        ("Makefile", f"-C /{_MACHINE_FOLDERS[0]}/main"),
        ("README.md", f"https://{'.'.join(_REGISTRIES[0])}/simple"),
        ("web/.npmrc", f"//registry.{'.'.join(_REGISTRIES[2]).upper()}"),
        ("uv.lock", "version = 1"),
        ("web/package-lock.json", '"resolved": "https://example.net/a.tgz"'),
        ("requirements/dev.txt", "--index-url https://example.net/simple"),
        ("requirements/dev.txt", "--find-links wheels"),
        ("requirements/dev.txt", "torch @ https://example.net/torch.whl"),
    ],
)
def test_a_machine_or_a_registry_is_reported(name: str, text: str) -> None:
    """The gate sees paths, hosts and lock files with addresses."""
    assert len(file_complaints(text, name)) == 1


@pytest.mark.parametrize(
    "text",
    [
        *(f"{before}/{_MACHINE_FOLDERS[0]}/x" for before in ("https://example.org", "src", "~")),
        "--hash=sha256:00",
    ],
)
def test_what_only_looks_like_a_machine_is_not_reported(text: str) -> None:
    """Addresses, relative paths and hashes pass."""
    assert file_complaints(text, "requirements/dev.txt") == []


# Extras with environments of their own, which hold what the package needs, too.
APART = {"google_adk": "google-adk", "crewai": "crewai", "fastembed": "fastembed"}
# With onnx the tests make the models that FastEmbed loads.
BESIDE = {"fastembed": ["onnx>=1.19"]}
PINNED = (
    *("install", "build", "runtime", "minilm", "service", "postgres", "dev", "originals"),
    "sentence_transformers",
    *APART,
)
# What the tests run with holds all that the program runs with.
RUNNING = ("build", "runtime", "minilm", "service", "postgres")


def wanted(name: str) -> list[str]:
    """Return what ``requirements/<name>.in`` asks for, sorted."""
    lines = ROOT.joinpath("requirements", f"{name}.in").read_text("utf-8").splitlines()
    return sorted(line for line in lines if line and not line.startswith(("#", "-c ")))


def test_the_pins_follow_the_declared_dependencies() -> None:
    """What ``pyproject.toml`` declares and what is pinned are the same lists."""
    project = tomllib.loads(ROOT.joinpath("pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]

    assert sorted(project["dependencies"]) == wanted("runtime")
    for name in ("minilm", "service", "postgres"):
        assert sorted(extras[name]) == wanted(name)
    for name, extra in APART.items():
        beside = BESIDE.get(name, ())
        assert sorted([*project["dependencies"], *extras[extra], *beside]) == wanted(name)
    tested = {each for name in TESTED_EXTRAS for each in extras[name]}
    ours = {each for each in tested if each.startswith(f"{project['name']}[")}
    assert sorted(tested - ours) == wanted("dev")


@pytest.mark.parametrize("name", PINNED)
def test_every_pin_has_a_hash(name: str) -> None:
    """Each requirement is an exact version with at least one hash, and each wish is pinned."""
    text = ROOT.joinpath("requirements", f"{name}.txt").read_text("utf-8")
    entries = re.split(r"\n(?=[A-Za-z0-9])", text)[1:]
    pinned = {entry.partition("==")[0].lower() for entry in entries}

    assert [entry for entry in entries if "--hash=sha256:" not in entry or "==" not in entry] == []
    assert {re.split(r"[<>=\[]", wish)[0].lower() for wish in wanted(name)} <= pinned


def pins(name: str) -> dict[str, str]:
    """Return the version of each package of ``requirements/<name>.txt``."""
    text = ROOT.joinpath("requirements", f"{name}.txt").read_text("utf-8")
    return dict(re.findall(r"^([\w.-]+)==([^ \\]+)", text, re.MULTILINE))


@pytest.mark.parametrize("name", RUNNING)
def test_the_tests_run_with_the_versions_that_the_program_runs_with(name: str) -> None:
    """`make test` adds to what `make demo` has installed, and changes none of it."""
    running, tested = pins(name), pins("dev")

    assert {each: tested.get(each, running[each]) for each in running} == running


def test_the_network_is_closed(refused_connections: list[str]) -> None:
    """A connection to another machine is refused before it leaves this one."""
    with socket.socket() as outward, pytest.raises(RuntimeError, match=r"192\.0\.2\.1"):
        outward.connect(("192.0.2.1", 80))

    assert ["socket.connect ('192.0.2.1', 80)"] == refused_connections
    refused_connections.clear()


def test_names_of_other_machines_are_not_looked_up(refused_connections: list[str]) -> None:
    """A name is refused before the resolver is asked for it."""
    with pytest.raises(RuntimeError, match=r"recollect\.invalid"):
        socket.getaddrinfo("recollect.invalid", 80)

    assert ["socket.getaddrinfo 'recollect.invalid'"] == refused_connections
    refused_connections.clear()


def test_loopback_is_open() -> None:
    """Servers that a test starts on this machine can be reached."""
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as connection,
    ):
        reached = connection.getpeername()

        assert server.getsockname() == reached
