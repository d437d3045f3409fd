"""The examples of the page on agents' frameworks run as they stand, but for the model's address."""

import ast
import re
import runpy
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from agents import set_tracing_disabled

import recollect
from tests.harness.model_provider import (
    Act,
    Provider,
    answers,
    calls,
    completion,
    message,
    provider_on_loopback,
)

PAGE = Path(__file__).parents[2] / "docs" / "agent_frameworks.md"
INTEGRATIONS = PAGE.parents[1] / "src" / "recollect" / "integrations"
SAID = "My cat is called Tom."
LINES_MAX = 15
"""So many lines lead from a page to the first fact that is remembered."""
SECTION = re.compile(r"^## (?P<name>[^\n]+)\n(?P<text>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```python[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
SECTIONS = {each["name"]: each["text"] for each in SECTION.finditer(PAGE.read_text("utf-8"))}
EXAMPLES = {name: blocks[0] for name, text in SECTIONS.items() if (blocks := BLOCK.findall(text))}
LANGGRAPH = BLOCK.findall(PAGE.with_name("langgraph.md").read_text("utf-8"))[0]
KEYLESS = re.compile(r"^Without a key.*?^```python[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
FIRST_BLOCKS = {
    **EXAMPLES,
    "LangChain and LangGraph": LANGGRAPH,
    **{
        f"{name} without a key": found[1]
        for name, text in SECTIONS.items()
        if (found := KEYLESS.search(text))
    },
}


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Provider]:
    monkeypatch.chdir(tmp_path)
    set_tracing_disabled(disabled=True)
    with provider_on_loopback() as server:
        for name, path in (("OPENAI", "/v1"), ("ANTHROPIC", "")):
            monkeypatch.setenv(f"{name}_API_KEY", "none")
            monkeypatch.setenv(f"{name}_BASE_URL", server.url + path)
        yield server


def responds(text: str) -> Act:
    """Answer as OpenAI's Responses API."""
    said = {"type": "output_text", "text": text, "annotations": []}
    output = {
        "id": "m1", "type": "message", "role": "assistant", "status": "completed", "content": [said]
    }  # fmt: skip
    return answers(
        {
            "id": "r1",
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "model": "tiny",
            "output": [output],
            "parallel_tool_calls": False,
            "tool_choice": "auto",
            "tools": [],
        }
    )


def answers_finally(text: str) -> Act:
    """Answer with the call by which smolagents ends a run."""
    return answers(completion(calls(("final_answer", f'{{"answer": "{text}"}}')), "tool_calls"))


def uses(**command: str) -> Act:
    """Call Anthropic's memory tool."""
    used: dict[str, object] = {"type": "tool_use", "id": "t1", "name": "memory", "input": command}
    return answers(message(used, stop="tool_use"))


CAT = "/memories/cat.md"
SCRIPTS: dict[str, Callable[[], list[Act]]] = {
    "OpenAI Agents SDK": lambda: [responds("A fine name."), responds("Tom.")],
    "smolagents": lambda: [answers_finally("A fine name."), answers_finally("Tom.")],
    "Anthropic's memory tool": lambda: [
        uses(command="create", path=CAT, file_text=f"{SAID}\n"),
        answers(message({"type": "text", "text": "Noted."})),
        uses(command="view", path=CAT),
        answers(message({"type": "text", "text": "Tom."})),
    ],
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_example_of_the_page_remembers(provider: Provider, tmp_path: Path, name: str) -> None:
    """What the model is sent at last has what was said in another conversation."""
    provider.acts = SCRIPTS[name]()
    (tmp_path / "example.py").write_text(EXAMPLES[name], "utf-8")

    runpy.run_path(str(tmp_path / "example.py"), run_name="__main__")

    last: dict[str, Any] = provider.seen[-1][2]
    assert SAID in str(last)
    assert [] == provider.acts


@pytest.mark.parametrize("name", FIRST_BLOCKS)
def test_a_first_fact_takes_few_lines(name: str) -> None:
    """With the imports, each line of them; blank lines are not counted."""
    written = [each for each in FIRST_BLOCKS[name].splitlines() if each.strip()]

    assert len(written) <= LINES_MAX, written


def test_every_first_block_is_counted() -> None:
    """Eight adapters and LangChain's, and six of them once more without a key."""
    assert 8 + 1 + 6 == len(FIRST_BLOCKS)


def test_every_framework_has_an_example() -> None:
    """Those here are scripted; the others run on the page itself, or in their own environment."""
    elsewhere = {"Pydantic AI", "LlamaIndex", "CrewAI", "Google ADK", "Microsoft Agent Framework"}

    assert EXAMPLES.keys() == SCRIPTS.keys() | elsewhere


def test_a_section_tells_what_its_classes_take() -> None:
    """The parameters of each class that an adapter exports for users to make, with defaults."""
    page = re.sub(r"\s+", " ", "\n".join(SECTIONS[name] for name in EXAMPLES))
    signatures = list(constructors())

    assert 13 == len(signatures)
    assert [] == [each for each in signatures if f"`{each}`" not in page]


def constructors() -> Iterator[str]:
    """Yield the call that makes each exported class, as the page writes it."""
    for package in sorted(INTEGRATIONS.iterdir()):
        if package.name in {"langchain", "langgraph", "search"} or not package.is_dir():
            continue
        trees = [ast.parse(path.read_text("utf-8")) for path in package.glob("*.py")]
        nodes = [node for tree in trees for node in ast.walk(tree)]
        exported = {
            alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
        }
        constants = {
            str(ast.unparse(node.target)): str(ast.unparse(node.value))
            for node in nodes
            if isinstance(node, ast.AnnAssign) and node.value
        }
        for node in nodes:
            if isinstance(node, ast.ClassDef) and node.name in exported and "Memory" != node.name:
                yield from (
                    f"{node.name}({parameters(each.args, constants)})"
                    for each in node.body
                    if isinstance(each, ast.FunctionDef) and "__init__" == each.name
                )


def parameters(found: ast.arguments, constants: Mapping[str, str]) -> str:
    """Return parameters without *self* and annotations, with the value of each constant."""
    for each in (*found.posonlyargs, *found.args, *found.kwonlyargs, found.vararg, found.kwarg):
        if each is not None:
            each.annotation = None
    found.args = found.args[1:]
    text = ast.unparse(found)
    for name, value in constants.items():
        plain = value.replace("_", "").replace("\\", "\\\\")
        text = re.sub(rf"={name}\b", f"={plain}", text)
    return text


def test_anthropics_model_is_told_what_other_frameworks_keep(
    provider: Provider, tmp_path: Path
) -> None:
    """By the example's system text, since its files hold only what a model wrote."""
    with recollect.open_sync("memory.db", embedder="none") as memory:
        memory.append(("ada",), "elsewhere", "My cat is grey.")
    provider.acts = SCRIPTS["Anthropic's memory tool"]()
    (tmp_path / "example.py").write_text(EXAMPLES["Anthropic's memory tool"], "utf-8")

    runpy.run_path(str(tmp_path / "example.py"), run_name="__main__")

    asked = [body["system"] for _, _, body in provider.seen if "system" in body]
    assert all("My cat is grey." in each for each in asked), asked
    assert asked


def test_the_table_of_versions_is_that_of_the_promises() -> None:
    """Each adapter has a row, and its lowest version is the one of its extra."""
    rows = dict(
        re.findall(r"^\| ([a-z0-9-]+) \| ([0-9.]+) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    )
    project = tomllib.loads((PAGE.parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    promised = {
        found[1]: found[2]
        for wanted in extras.values()
        for each in wanted
        if (found := re.match(r"([a-z0-9-]+)>=([0-9.]+)", each))
    }
    adapters = {path.name.replace("_", "-") for path in INTEGRATIONS.iterdir() if path.is_dir()}
    frameworks = adapters & extras.keys()

    assert len(frameworks) > 5
    for name in frameworks:
        assert any(each.partition(">=")[0] in rows for each in extras[name]), name
    for package, lowest in rows.items():
        assert f"{lowest}.".startswith(f"{promised[package]}."), package
