"""An adapter whose framework is not installed says which extra to install, and how."""

import importlib
import json
import sys
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from recollect.errors import MissingExtraError

# The adapter, its extra, and the module of its framework.
ADAPTERS = [
    ("agent_framework", "agent-framework", "agent_framework"),
    ("anthropic_memory", "anthropic", "anthropic"),
    ("crewai", "crewai", "crewai"),
    ("google_adk", "google-adk", "google"),
    ("langchain", "langchain", "langchain_core"),
    ("langgraph", "langgraph", "langgraph"),
    ("llama_index", "llama-index", "llama_index"),
    ("openai_agents", "openai-agents", "agents"),
    ("pydantic_ai", "pydantic-ai", "pydantic_ai"),
    ("smolagents", "smolagents", "smolagents"),
]
FOLDER = Path(importlib.import_module("recollect.integrations").__path__[0])


@pytest.mark.parametrize(("adapter", "extra", "framework"), ADAPTERS)
def test_a_missing_framework_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, adapter: str, extra: str, framework: str
) -> None:
    name = f"recollect.integrations.{adapter}"
    parts = tuple(f"{each}." for each in (name, framework))
    for module in [each for each in sys.modules if f"{each}.".startswith(parts)]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, framework, None)

    with pytest.raises(MissingExtraError) as caught:
        importlib.import_module(name)

    assert extra == caught.value.extra
    assert f'install the extra "recollect[{extra}]" with: pip install ' in str(caught.value)
    assert f'[{extra}]"' in str(caught.value).rpartition("pip install")[2]


def test_every_adapter_is_asked() -> None:
    frameworks = {each.name for each in FOLDER.iterdir() if (each / "__init__.py").exists()}

    assert frameworks - {"search"} == {adapter for adapter, *_ in ADAPTERS}


@pytest.mark.parametrize(
    ("origin", "argument"),
    [
        (None, '"recollect[redis]"'),
        ({"url": "file:///a%20b", "dir_info": {}}, '"/a b[redis]"'),
        ({"url": "file:///a", "dir_info": {"editable": True}}, '-e "/a[redis]"'),
        ({"url": "file:///a.whl", "archive_info": {}}, '"recollect[redis] @ file:///a.whl"'),
    ],
)
def test_the_command_installs_from_where_the_package_came(
    monkeypatch: pytest.MonkeyPatch, origin: object, argument: str
) -> None:
    """Not from an index that has another project under the name."""
    text = json.dumps(origin) if origin else None
    monkeypatch.setattr(PathDistribution, "read_text", lambda _self, _name: text)

    assert str(MissingExtraError("redis", "redis")).endswith(f"with: pip install {argument}")
