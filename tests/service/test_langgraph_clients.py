"""Other clients of LangGraph's server use our service unchanged: JavaScript's, and LangMem's."""

import importlib.util
import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from uuid import uuid4

import pytest
from langgraph_sdk import get_sync_client

import recollect
from recollect.formation.rule_model import RuleModel
from recollect.memory.facade import Recollect
from recollect.server.testing import Served, serving

JAVASCRIPT = "@langchain/langgraph-sdk@1.15.0", "@langchain/core@1"
SCRIPT = Path(__file__).with_name("langgraph_client.mjs")
INSTALL_S = 180
RUN_S = 60
FORM_S = 60


@pytest.fixture(scope="module")
def working() -> Iterator[Served]:
    """Run a service whose worker forms what is due."""
    model = RuleModel()

    def opened() -> AbstractAsyncContextManager[Recollect]:
        return recollect.open("memory:", embedder="none", model=model)

    with serving(opened, model=model) as found:
        yield found


@pytest.fixture(scope="module")
def javascript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with LangGraph's JavaScript client and the script that uses it."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("there is no node here")
    folder = tmp_path_factory.mktemp("javascript")
    command = [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", *JAVASCRIPT]
    try:
        done = subprocess.run(command, capture_output=True, timeout=INSTALL_S, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm did not install the client within {INSTALL_S} s")
    if done.returncode:
        pytest.skip(f"npm cannot install the client: {done.stderr.decode()[-200:]}")
    shutil.copy(SCRIPT, folder / SCRIPT.name)
    return folder


def test_the_javascript_client_works_unchanged(working: Served, javascript: Path) -> None:
    """It puts, gets, finds, lists and deletes items, makes a thread and posts runs."""
    script = javascript / SCRIPT.name
    command = ["node", str(script), working.url, working.key, str(uuid4())]

    done = subprocess.run(command, capture_output=True, timeout=RUN_S, check=False)

    assert 0 == done.returncode, done.stderr.decode()
    told = json.loads(done.stdout)
    assert [["js", "ada"], "tea", {"text": "Ada drinks green tea"}, True] == told["item"]
    assert (None, None) == (told["missing"], told["gone"])
    assert ["tea"] == told["found"]
    assert [["js", "ada"]] == told["listed"]
    assert ["pending", ["pending"]] == told["run"]
    assert ["My name is Will.", "I like hiking."] == told["messages"]
    assert ["memory_graph"] == told["assistants"]


@pytest.mark.skipif(importlib.util.find_spec("langmem") is None, reason="langmem is not installed")
def test_langmems_executor_forms_here(working: Served) -> None:
    """Its remote executor posts a run in its namespace, and finds there what was formed."""
    from langmem import ReflectionExecutor

    namespace = ("langmem", "will")
    with get_sync_client(url=working.url, api_key=working.key) as client:
        executor = ReflectionExecutor(
            "memory_graph", namespace, url=working.url, sync_client=client
        )
        payload = {"messages": [{"role": "user", "content": "My name is Will."}]}
        thread = str(uuid4())
        executor.submit(payload, {"configurable": {}}, thread_id=thread).result(FORM_S)
        (run,) = client.runs.list(thread)
        client.runs.join(thread, run["run_id"])

        found = executor.search()

    assert {"user_name": "Will"} == found[0]["value"]
