"""`recollect formation` and the configuration file: what waits, what was formed, and by what."""

import json
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from click.testing import CliRunner, Result

import recollect
from recollect.cli import main
from recollect.cli.formation_config import forming_of
from recollect.errors import EXIT_STATUS, NotFoundError, UsageError
from recollect.formation.config import DEFAULT_MODEL, FormationSettings
from recollect.formation.rule_model import RuleModel
from recollect.formation.types import NOTE, USER
from recollect.records import Json
from recollect.testing.scripted_model import ScriptedModel

ADA = ("users", "ada")
PLAIN = Path("memory.toml")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Fill a store with a talk that waits to be formed; work in its folder."""
    monkeypatch.chdir(tmp_path)
    path = str(tmp_path / "store.db")
    anyio.run(_fill, path)
    return path


async def _fill(path: str) -> None:
    async with recollect.open(path, embedder="none", worker=False) as memory:
        said = [recollect.NewMessage(role="user", text="I live in Bergen. My dog hates rain.")]
        await memory.append(ADA, "talk", said)
        await memory.append((*ADA, "work"), "desk", said)


def invoke(store: str, *arguments: str) -> Result:
    """Run a command on Ada's scope of *store*."""
    environment = {
        "RECOLLECT_STORE": store,
        "RECOLLECT_SCOPE": "users/ada",
        "RECOLLECT_EMBEDDER": "none",
        "RECOLLECT_MODEL": None,
        "RECOLLECT_CONFIG": None,
        "COLUMNS": "200",
    }
    result = CliRunner(env=environment).invoke(main, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def formed(store: str, *arguments: str) -> list[dict[str, Json]]:
    """Run `form`, and return what was formed."""
    found = json.loads(invoke(store, "form", *arguments).stdout)["results"]
    assert isinstance(found, list)
    return found


def test_what_waits_is_listed_with_its_countdown(store: str) -> None:
    """The scopes below only if they are asked for."""
    own = json.loads(invoke(store, "formation", "list").stdout)
    below = invoke(store, "formation", "list", "--below", "--table")

    (waiting,) = own["pending"]
    assert ("talk", 1) == (waiting["thread"], waiting["messages"])
    assert 0 < waiting["due_in_s"] <= 10
    assert [] == own["formations"]
    assert "users/ada/work" in below.stdout
    assert " in " in below.stdout
    assert "2 threads waiting" in below.stderr


def test_form_forms_now_and_list_and_show_tell_of_it(store: str) -> None:
    """Outcomes, tokens by type, prompt, tools and answer are there to look at."""
    (done,) = formed(store, "--model", "rules")

    (listed,) = json.loads(invoke(store, "formation", "list").stdout)["formations"]
    shown = json.loads(invoke(store, "formation", "show", listed["id"]).stdout)
    told = invoke(store, "formation", "show", listed["id"], "--table").stdout

    assert ("formed", {"stored": 2}) == (done["end"], done["counts"])
    assert ("formed", 1) == (listed["status"], listed["calls"])
    assert "exchanges" not in listed["receipt"]
    (exchange,) = shown["receipt"]["exchanges"]
    assert {"system", "turns", "tools", "answer"} == exchange.keys()
    assert {"User", "Note"} == shown["receipt"]["by_type"].keys()
    for words in ("rules/1", "stored", "tokens by type", "My dog hates rain", "remember_nothing"):
        assert words in told
    assert "2 stored" in invoke(store, "formation", "list", "--table").stdout


def test_form_takes_a_scope_and_a_thread(store: str) -> None:
    """Each for its own; of what is formed nothing waits."""
    (below,) = formed(store, "users/ada/work", "--thread", "desk", "--model", "rules")
    again = invoke(store, "form", "users/ada/work", "--model", "rules")

    assert "formed" == below["end"]
    assert "nothing was formed" in again.stderr
    assert 1 == len(json.loads(invoke(store, "formation", "list").stdout)["pending"])


def test_pause_and_resume(store: str) -> None:
    """What is paused is not formed, and says so."""
    paused = invoke(store, "formation", "pause", "--table")
    listed = invoke(store, "formation", "list", "--table")
    formed_meanwhile = formed(store, "--model", "rules")
    resumed = invoke(store, "formation", "resume", "--thread", "talk", "--table")

    assert "paused 1 thread\n" == paused.stdout
    assert "paused" in listed.stdout
    assert [] == formed_meanwhile
    assert "resumed 1 thread\n" == resumed.stdout
    assert ["formed"] == [each["end"] for each in formed(store, "--model", "rules")]


async def _dead(path: str) -> None:
    settings: recollect.JsonObject = {"limits": {"attempts": 1}}
    model = ScriptedModel(["no call"] * 3)
    async with recollect.open(path, embedder="none", worker=False, model=model) as memory:
        said = [recollect.NewMessage(role="user", text="I like chess.")]
        await memory.append(("users", "bo"), "talk", said, settings=settings)
        (result,) = await memory.form(("users", "bo"))
        assert "dead" == result.end


def test_what_was_given_up_can_be_retried(store: str) -> None:
    """Once; what is not dead cannot."""
    anyio.run(_dead, store)
    bo = ("--scope", "users/bo")
    listed = json.loads(invoke(store, "formation", "list", *bo, "--status", "dead").stdout)
    (dead,) = listed["formations"]

    retried = invoke(store, "formation", "retry", "--id", dead["id"], *bo, "--table")
    again = invoke(store, "formation", "retry", "--id", dead["id"], *bo)

    assert "1 message waits to be formed again\n" == retried.stdout
    assert EXIT_STATUS["usage"] == again.exit_code
    assert [1] == [
        each["messages"]
        for each in json.loads(invoke(store, "formation", "list", *bo).stdout)["pending"]
    ]


async def _keep_notes(path: str) -> None:
    async with recollect.open(path, embedder="none") as memory:
        for key in ("one", "two"):
            await memory.put(ADA, "Note", key, {"context": "said", "content": key})


def test_a_types_memories_are_turned_and_turned_back(store: str) -> None:
    """By a command each; where there is nothing to turn it says so."""
    anyio.run(_keep_notes, store)

    turned = json.loads(invoke(store, "formation", "migrate-type", "Note", "patch").stdout)
    again = invoke(store, "formation", "migrate-type", "Note", "patch", "--table")
    undone = invoke(store, "consolidate", "--undo", turned["id"])
    back = invoke(store, "formation", "migrate-type", "Note", "patch", "--table")

    assert (2, "Note", "patch") == (turned["turned"], turned["type"], turned["update_mode"])
    assert "no memory of Note stands in another mode than patch\n" == again.stdout
    assert 0 == undone.exit_code
    assert back.stdout.startswith("turned 2 of Note to patch\nid ")


async def _form_by_day(path: str) -> None:
    nightly = replace(NOTE, schedule="0 3 * * *")
    settings = FormationSettings(types=(USER, nightly))
    async with recollect.open(
        path, embedder="none", worker=False, model=RuleModel(), formation=settings
    ) as memory:
        await memory.form(ADA)


def test_what_waits_for_a_schedule_is_listed_as_that(store: str) -> None:
    """With how much waits, and for which type."""
    anyio.run(_form_by_day, store)

    (waiting,) = json.loads(invoke(store, "formation", "list").stdout)["pending"]
    table = invoke(store, "formation", "list", "--table")

    assert (1, None) == (waiting["messages"], waiting["due"])
    assert "at the times of Note" in table.stdout


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("formation show nothing", "not_found"),
        ("formation retry --id nothing", "not_found"),
        ("form --thread nothing --model rules", "not_found"),
        ("form", "usage"),
        ("form --model nothing", "usage"),
        ("form --model missing.json", "not_found"),
        ("form --config missing.toml", "not_found"),
        ("formation list --limit 0", "usage"),
        ("formation pause --thread nothing", "not_found"),
    ],
)
def test_what_cannot_be_done_has_its_status(store: str, arguments: str, error: str) -> None:
    """And one sentence."""
    result = invoke(store, *arguments.split())

    assert EXIT_STATUS[error] == result.exit_code
    assert 1 == result.stderr.count("\n")
    assert "" == result.stdout


def test_a_model_that_answers_nonsense_fails_the_command(store: str) -> None:
    """What was said waits on."""
    script = {"formations": ["nonsense"]}
    Path("script.json").write_text(json.dumps(script), "utf-8")

    result = invoke(store, "form", "--model", "script.json", "--table")

    assert EXIT_STATUS["model"] == result.exit_code
    assert "formations: a call is" in result.stdout + result.stderr
    assert 1 == len(json.loads(invoke(store, "formation", "list").stdout)["pending"])


def test_a_configuration_shapes_what_is_formed(store: str) -> None:
    """Its types are the only ones; its assistants differ where they say so."""
    config = {
        "model": "rules",
        "types": [
            {
                "name": "Note",
                "description": "What matters later.",
                "update_mode": "insert",
                "parameters": {
                    "type": "object",
                    "properties": {"context": {"type": "string"}, "content": {"type": "string"}},
                },
            }
        ],
    }
    Path("memory.json").write_text(json.dumps(config), "utf-8")

    (done,) = formed(store, "--config", "memory.json")

    outcomes = done["outcomes"]
    assert isinstance(outcomes, list)
    assert ["Note"] == [each["type"] for each in outcomes]


def test_a_file_is_read_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings for all, assistants that differ, and an option that goes before both."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECOLLECT_MODEL", raising=False)
    PLAIN.write_text(
        'model = "rules"\nafter_seconds = 30\n[limits]\nrepairs = 1\n'
        '[assistants.tutor]\nmodel = "default"\nafter_seconds = 60\nschedule = "0 3 * * *"\n',
        "utf-8",
    )

    forming = forming_of(None, base_url=None, config=PLAIN, after_s=None)
    chosen = forming_of("ollama/x", base_url=None, config=PLAIN, after_s=1.5)

    tutor = forming.assistants.named["tutor"]
    default = forming.assistants.default
    assert ("rules", None, DEFAULT_MODEL) == (forming.model, default.model, tutor.model)
    assert (30, 60) == (default.debounce.quiet_s, tutor.debounce.quiet_s)
    assert (1, 1) == (default.limits.repairs, tutor.limits.repairs)
    assert "ollama/x" == chosen.model
    assert 1.5 == chosen.assistants.named["tutor"].debounce.quiet_s


def test_the_model_can_stand_in_the_environment_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``.env`` holds keys, and may name the model beside them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECOLLECT_MODEL", "x")
    monkeypatch.delenv("RECOLLECT_MODEL")
    Path(".env").write_text("RECOLLECT_MODEL=ollama/y\n", "utf-8")

    forming = forming_of(None, base_url=None, config=None, after_s=None)

    assert "ollama/y" == forming.model


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("= 1", "memory.toml: cannot be read"),
        ("colour = 1", "memory.toml: there is no setting 'colour'"),
        ("model = 1", "memory.toml: model: is text"),
        ("[limits]\nrepairs = -1", "memory.toml: limits.repairs"),
        ("schedule = 'often'", "memory.toml: 'often' is no cron line"),
        ("[[types]]\nname = 'a/b'", "memory.toml: types[0].description"),
        ("[prompts]\nchatbot = '{x}'", "memory.toml: the prompt 'chatbot' names {x}"),
        ("assistants = 1", "memory.toml: assistants: is a table"),
        ("[assistants.a]\nmodel = 'x'", "memory.toml: assistants.a: 'x' names no provider"),
        ("[assistants.a.limits]\nx = 1", "memory.toml: assistants.a: limits has no 'x'"),
        ("scopes = 1", "memory.toml: scopes: is a list of tables"),
        ("[[scopes]]\nscope = ['a']", "memory.toml: scopes[0]: has the keys scope and assistant"),
        ("[[scopes]]\nscope = ['']\nassistant = 'a'", "memory.toml: scopes[0]: "),
        ("[[scopes]]\nscope = 1\nassistant = 'a'", "memory.toml: scopes[0]: "),
        ("[[scopes]]\nscope = ['a']\nassistant = 'b'", "memory.toml: scopes: there is no assis"),
    ],
)
def test_a_mistake_in_a_file_is_told_with_file_and_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, place: str
) -> None:
    """So that it can be found."""
    monkeypatch.chdir(tmp_path)
    PLAIN.write_text(text, "utf-8")

    with pytest.raises(UsageError) as error:
        forming_of(None, base_url=None, config=PLAIN, after_s=None)

    assert place in str(error.value)


def test_only_the_two_forms_are_read(tmp_path: Path) -> None:
    """And a file that is not there is told as such."""
    other = tmp_path / "memory.yaml"
    other.write_text("a: 1", "utf-8")

    with pytest.raises(UsageError, match=r"\.toml or \.json"):
        forming_of(None, base_url=None, config=other, after_s=None)
    with pytest.raises(NotFoundError, match="no file"):
        forming_of(None, base_url=None, config=tmp_path / "no.toml", after_s=None)
