"""Which choice becomes which model, and what is said where none does; the file of keys."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from recollect.errors import (
    MissingExtraError,
    ModelDeniedError,
    ModelError,
    UsageError,
)
from recollect.models import (
    CallableModel,
    LangChainModel,
    PromptedModel,
    load_environment,
    open_model,
)
from recollect.models.named_model import parsed_choice
from recollect.models.openai_model import OpenAIModel
from recollect.ports import ModelAnswer, ModelRequest
from recollect.testing.scripted_model import ScriptedModel

KEY = "mango-7731-kestrel"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE",
                 "AZURE_OPENAI_API_KEY", "ANTHROPIC_AUTH_TOKEN"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)


async def ask(_: ModelRequest) -> str:
    """Answer nothing."""
    return ""


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("openai/gpt-x", ("openai", "gpt-x")),
        ("openai:gpt-x", ("openai", "gpt-x")),
        ("openrouter:org/model", ("openrouter", "org/model")),
        ("openrouter/org/model:free", ("openrouter", "org/model:free")),
        ("ollama:llama3:8b", ("ollama", "llama3:8b")),
        ("OpenAI/GPT", ("openai", "GPT")),
        ("google/gemini-x", ("google_genai", "gemini-x")),
        ("google-genai:gemini-x", ("google_genai", "gemini-x")),
        ("mistral/large", ("mistralai", "large")),
    ],
)
def test_the_first_mark_parts_provider_and_model(choice: str, expected: tuple[str, str]) -> None:
    assert expected == parsed_choice(choice)


@pytest.mark.parametrize("choice", ["gpt-x", "", " ", "/x", "openai/", "openai: ", ":", "7/x"])
def test_a_name_without_a_provider_is_refused(choice: str) -> None:
    """With a sentence that says how to write it: guessing would ask the wrong service."""
    with pytest.raises(UsageError, match="write 'provider/model'"):
        open_model(choice)


def test_a_bare_name_is_shown_as_it_should_be() -> None:
    with pytest.raises(UsageError, match=r"'gpt-x' names no provider.*'openai/gpt-x'"):
        open_model("gpt-x")


def test_an_unknown_provider_is_told_of_base_urls() -> None:
    """As names of weights have the same form."""
    with pytest.raises(UsageError, match=r"'qwen' is no provider.*'openai/Qwen3' with its base"):
        open_model("qwen/Qwen3")


@pytest.mark.parametrize(
    ("choice", "missing", "words"),
    [
        ("openai/m", "openai", r'openai .* "recollect\[openai\]"'),
        ("ollama/m", "openai", r'openai .* "recollect\[openai\]"'),
        ("anthropic/m", "anthropic", r'anthropic .* "recollect\[anthropic\]"'),
        ("azure/m", "langchain", r'recollect\[langchain\]"'),
    ],
)
def test_a_missing_package_names_its_extra(
    monkeypatch: pytest.MonkeyPatch, choice: str, missing: str, words: str
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == missing]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)

    with pytest.raises(MissingExtraError, match=words):
        open_model(choice, api_key=KEY)


def test_a_provider_without_an_extra_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain_cohere", None)

    with pytest.raises(ModelError, match="pip install langchain-cohere"):
        open_model("cohere/m")


@pytest.mark.parametrize("provider", ["openai", "anthropic", "azure"])
def test_a_missing_key_is_told_before_anything_is_asked(provider: str) -> None:
    with pytest.raises(ModelDeniedError, match=f"set {provider.upper()}.*_API_KEY"):
        open_model(f"{provider}/m")


@pytest.mark.parametrize("url", ["127.0.0.1:80", "ftp://x", "http://", "http://x:port"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="write it as http://"):
        open_model("openai/m", base_url=url)


def test_settings_that_are_none_are_refused() -> None:
    """And the key is not in what is said of them."""
    with pytest.raises(ModelError, match="cannot be opened") as failure:
        open_model("azure/m", api_key=KEY, settings={"temperature": "hot"})

    assert KEY not in f"{failure.value} {failure.value.__cause__}"


def test_a_string_opens_the_providers_own_client() -> None:
    """The key in it is not shown, and a request that failed in passing is repeated."""
    model: Any = open_model("openai/m", api_key=KEY, settings={"temperature": 0.5})

    assert isinstance(model, OpenAIModel)
    assert "openai/m" == model.identity
    assert (2, {"temperature": 0.5}) == (model._client.max_retries, model._fields)
    assert KEY not in f"{model!r} {model._endpoint!r}"


def test_other_providers_open_as_langchains_model() -> None:
    """Nobody but our worker repeats a request there."""
    settings = {"api_version": "1", "azure_endpoint": "http://127.0.0.1:9", "temperature": 0.5}
    model: Any = open_model("azure/m", api_key=KEY, settings=settings)

    chat = model._model
    assert isinstance(model, LangChainModel)
    assert "azure_openai/m" == model.identity
    assert (0, 0.5) == (chat.max_retries, chat.temperature)
    assert KEY not in f"{model!r} {chat!r} {vars(model)!r}".replace(repr(model._secrets), "")


def test_a_module_and_attribute_name_an_object(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A function, an object, or a class that is called; also deep inside."""
    tmp_path.joinpath("some_models.py").write_text(
        "class Own:\n"
        "    identity = 'own/m'\n"
        "    async def answer(self, request): ...\n"
        "    def stream(self, request): ...\n"
        "class Box:\n    inner = Own()\n"
        "async def ask(request): return 'Hi'\n",
        "utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)

    opened = [open_model(f"some_models:{name}") for name in ("Own", "Box.inner", "ask")]

    assert ["own/m", "own/m", "some_models/ask"] == [each.identity for each in opened]


@pytest.mark.parametrize("choice", ["no_such_module:model", "json:nothing", "json.tool:a.b"])
def test_an_object_that_is_not_there_is_told(choice: str) -> None:
    with pytest.raises(UsageError, match=f"'{choice}'"):
        open_model(choice)


def test_a_local_server_needs_no_key_and_gets_a_schema() -> None:
    model = open_model("openai/m", base_url="http://127.0.0.1:9/v1")

    assert "OpenAIModel('openai/m', tools='json_schema')" == repr(model)


@pytest.mark.parametrize("tools", ["auto", "native", "prompt"])
def test_a_model_stays_itself(tools: Any) -> None:
    """Unless its tools are to go into its prompt."""
    model = ScriptedModel([])

    opened = open_model(model, tools=tools)

    assert opened is model or (isinstance(opened, PromptedModel) and tools == "prompt")


def test_none_is_no_model() -> None:
    """Keep, recall and forget need none."""
    assert open_model(None) is None


def test_an_async_callable_is_a_model() -> None:
    assert isinstance(open_model(ask), CallableModel)


@pytest.mark.parametrize("choice", [7, object(), ScriptedModel, ["openai/m"]])
def test_anything_else_is_no_model(choice: object) -> None:
    with pytest.raises(UsageError, match=r"is no model|is a class"):
        open_model(choice)


def test_an_object_that_is_nearly_a_model_is_told_what_it_lacks() -> None:
    class Mute:
        identity = "own/mute"

        async def answer(self, _request: ModelRequest) -> ModelAnswer:
            return ModelAnswer()

    with pytest.raises(UsageError) as failure:
        open_model(Mute())

    assert "Mute is no model: it lacks stream; a Model has identity, answer, stream" in str(
        failure.value
    )


@pytest.mark.parametrize(
    "arguments",
    [{"base_url": "http://127.0.0.1"}, {"api_key": KEY}, {"settings": {}}, {"tools": "json_schema"},
     {"tools": "some"}, {"timeout_s": 0}, {"timeout_s": float("nan")}],
)  # fmt: skip
def test_what_does_not_go_with_an_object_is_refused(arguments: dict[str, Any]) -> None:
    """Silently dropping a key or an address would surprise; the key is not said."""
    with pytest.raises(UsageError) as failure:
        open_model(ask, **arguments)

    assert KEY not in str(failure.value)


def test_a_file_of_variables_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Variables that are set already win; values are neither returned nor printed."""
    path = tmp_path / ".env"
    path.write_text(f'export ONE_API_KEY="{KEY}"\n# TWO=2\nHELD=new\nEMPTY\n', "utf-8")
    monkeypatch.setattr(os, "environ", {"HELD": "old"})

    names = load_environment(path)

    assert ("ONE_API_KEY",) == names
    assert {"HELD": "old", "ONE_API_KEY": KEY} == os.environ
    assert ("", "") == tuple(capsys.readouterr())


def test_no_file_is_nothing(tmp_path: Path) -> None:
    assert () == load_environment(tmp_path / ".env")


def test_a_file_that_is_no_text_says_so_and_no_more(tmp_path: Path) -> None:
    """The decoder would quote the line."""
    path = tmp_path / ".env"
    path.write_bytes(f"A_KEY={KEY}\xff".encode("latin-1"))

    with pytest.raises(UsageError, match="UnicodeDecodeError") as failure:
        load_environment(path)

    assert failure.value.__cause__ is None
    assert KEY not in str(failure.value)


def test_a_key_from_the_file_opens_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / ".env"
    path.write_text(f"OPENAI_API_KEY={KEY}\n", "utf-8")
    monkeypatch.setattr(os, "environ", os.environ.copy())

    model = open_model("openai/m", env_file=path)

    assert "openai/m" == model.identity


def test_without_its_reader_the_file_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / ".env"
    path.touch()
    monkeypatch.setitem(sys.modules, "dotenv", None)

    with pytest.raises(MissingExtraError, match="python-dotenv"):
        load_environment(path)
