"""Names in /openapi.json are those of the generated clients: they stay, and are pinned here."""

import json
import re
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from recollect.server import Settings
from recollect.server.http.api_operations import OPERATIONS
from recollect.server.http.application import create_app
from recollect.server.http.openapi import operations, read_examples, titled
from recollect.server.schemas.elements import ProblemResponse
from recollect.server.schemas.memories import UndoResponse
from tests.service.example_story import recorded

OPERATION_IDS = """
append_messages approve_memory cancel_langgraph_thread_run change_memories chat check_types context
create_key create_langgraph_run create_langgraph_thread create_langgraph_thread_run
delete_langgraph_item delete_langgraph_thread delete_langgraph_thread_run delete_memory end_memory
erase export_records forget_recalls form get_formation get_graph get_health get_info
get_langgraph_assistant get_langgraph_item get_langgraph_thread get_langgraph_thread_run
get_langgraph_thread_state get_liveness get_me get_memory get_memory_history get_metrics get_ok
get_overview get_readiness get_thread get_usage import_file import_records
join_langgraph_thread_run list_audit list_erase_receipts list_formations list_keys
list_langgraph_namespaces list_langgraph_thread_runs list_memories list_memory_recalls
list_messages list_pending list_review list_scopes list_threads list_types pause_formation
preview_erase put_langgraph_item put_memory recall reject_memory remember remove_message
replace_message replace_types restore_memory resume_formation retry_formation revoke_key rotate_key
search_langgraph_assistants search_langgraph_items search_langgraph_threads undo_change
update_langgraph_thread verify_audit wait_langgraph_run wait_langgraph_thread_run watch_changes
"""
SCHEMAS = """
AppendRequest AppendedMessages AuditEntry AuditPage AuditVerdict ChangeMemoriesRequest
ChangedMemories ChangedMemory ChatRequest CircuitBreaker Context ContextEntry ContextRequest
CreateKeyRequest DroppedMemory DroppedMessage EndMemoryRequest ErasePreview EraseReceipt
EraseReceiptPage EraseRequest EraseTarget Evidence FieldProblem FieldQuotes FileLines Formation
FormationPage FormationRequest FormationResult FormationResults FormedMessage Graph GraphEdge
GraphNode Health ImportNote ImportResult ImportedThread Info JsonValue Key KeyPage Lane
LangGraphAssistant LangGraphCreateThreadRequest LangGraphFoundItem LangGraphFoundItems
LangGraphItem LangGraphItemAddress LangGraphNamespaces LangGraphNamespacesRequest
LangGraphPutItemRequest LangGraphRun LangGraphRunRequest LangGraphSearchAssistantsRequest
LangGraphSearchItemsRequest LangGraphSearchThreadsRequest LangGraphThread LangGraphThreadState
LangGraphUpdateThreadRequest LangGraphValues LaterWords LeftOut Limits Me Memory MemoryAddress
MemoryCounts MemoryHistory MemoryPage MemoryTypes MemoryTypesCheck MemoryTypesRequest MemoryUse
MemoryUses MemoryVersion Message MessageAddress MessageAddresses MessagePage NewEvidence
NewFileLines NewKey NewMessage NewestMemory Ok Overview PendingPage PendingThread
PreviewEraseRequest Problem ProfileDocument PutMemoryRequest Quotation Readiness Recall RecallCount
RecallRequest RecalledMemory RecalledMessage RefusedCall RejectMemoryRequest RememberRequest
RestoreMemoryRequest RetriedMessages RetryFormationRequest ReviewPage Revision RotateKeyRequest
ScopePage Signal Status SteeredThreads StoreHealth TaskError TaskHealth Thread ThreadPage
UndoRequest UndoToken Usage UsageDay WaitingMemory
"""


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """Return what a service tells of its routes."""
    found: dict[str, Any] = create_app(Settings(), lambda: pytest.fail("not opened")).openapi()
    return found


def test_every_operation_has_its_pinned_id(document: dict[str, Any]) -> None:
    """A new one is added here; one that is renamed breaks the clients of others."""
    found = [operation["operationId"] for _, _, operation in operations(document)]

    assert OPERATION_IDS.split() == sorted(found)
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", each) for each in found)
    assert {(method, path) for method, path, _ in operations(document)} == OPERATIONS.keys()


def test_every_schema_has_its_pinned_name(document: dict[str, Any]) -> None:
    """Nouns without the marks of a generator, each of them used."""
    names = set(document["components"]["schemas"])
    used = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(document)))

    assert sorted(SCHEMAS.split()) == sorted(names)
    assert used == names
    assert [each for each in names if not re.fullmatch(r"([A-Z][a-z]+|JSON)+", each)] == []


def test_every_answer_has_a_schema_or_is_a_stream(document: dict[str, Any]) -> None:
    """No answer in JSON may be just anything."""
    for method, path, operation in operations(document):
        for status, answer in operation["responses"].items():
            if status.startswith("2") and status != "204":
                ((media_type, told),) = answer["content"].items()
                is_stream = media_type == OPERATIONS[method, path].stream
                assert is_stream or "properties" not in told["schema"], (method, path)
                assert is_stream or re.search(r"\$ref", json.dumps(told)), (method, path)


def test_every_answer_has_an_example(document: dict[str, Any]) -> None:
    """Whatever its status; and each that is JSON has the form that is documented."""
    told = document["components"]["responses"]
    for method, path, operation in operations(document):
        for status, answer in operation["responses"].items():
            shown = told[answer["$ref"].rpartition("/")[2]] if "$ref" in answer else answer
            for media_type, content in shown.get("content", {}).items():
                assert content.get("example") is not None, (method, path, status, media_type)
                assert_has_its_form((method, path), status, content["example"])


def assert_has_its_form(at: tuple[str, str], status: str, example: Any) -> None:
    """Fail if an example is not what an operation answers."""
    form = ProblemResponse if status >= "4" else OPERATIONS[at].answer
    if at[0] == "delete" and status == "200":
        form = UndoResponse
    if form is not None:
        TypeAdapter(form).validate_json(json.dumps(example), strict=True)


def test_every_request_has_an_example(document: dict[str, Any]) -> None:
    """A body in JSON, and the names in a path."""
    for method, path, operation in operations(document):
        named = [each for each in operation.get("parameters", ()) if each["in"] == "path"]
        assert all("example" in each for each in named), (method, path)
        body = operation.get("requestBody", {"content": {}})["content"]
        examples = [each.get("example") for kind, each in body.items() if "json" in kind]
        assert [] == [each for each in examples if each is None or each == {}] or (
            "ndjson" in next(iter(body))
        ), (method, path)


@pytest.mark.parametrize(
    "schema", ["RecallRequest", "ContextRequest", "PutMemoryRequest", "NewMessage"]
)
def test_every_field_of_a_much_used_body_says_what_it_means(
    document: dict[str, Any], schema: str
) -> None:
    """The page shows it beside the name, and a row without it tells nobody anything."""
    fields = document["components"]["schemas"][schema]["properties"]

    assert [] == [name for name, field in fields.items() if not field.get("description")]


def test_every_parameter_of_threads_and_memories_says_what_it_means(
    document: dict[str, Any],
) -> None:
    """Those of a path, too."""
    untold = {
        each["name"]
        for _, path, operation in operations(document)
        for each in operation.get("parameters", ())
        if path.startswith(("/v1/threads", "/v1/memories", "/v1/review", "/v1/recall"))
        and not each.get("description")
    }

    assert set() == untold


def test_the_examples_are_what_a_service_answers() -> None:
    """The requests of the examples, made again: each goes well, with the same status."""
    found, kept = recorded(), read_examples()

    assert found.keys() == kept.keys() == {each.id for each in OPERATIONS.values()}
    assert {name: each["status"] for name, each in kept.items()} == {
        name: each["status"] for name, each in found.items()
    }
    assert "rk_0123456789abcdef_EXAMPLE" in json.dumps(kept)
    assert not re.search(r"rk_(?!0123456789abcdef_EXAMPLE)[\w-]{20,}", json.dumps(kept))


@pytest.mark.parametrize("fault", ["no answer", "another form"])
def test_a_missing_or_wrong_example_is_found(document: dict[str, Any], fault: str) -> None:
    """The mutants: an operation without an example, and one of another form."""
    changed = json.loads(json.dumps(document))
    answer = changed["paths"]["/v1/threads"]["get"]["responses"]["200"]["content"]
    (content,) = answer.values()
    content["example"] = None if fault == "no answer" else {"threads": [{"id": 7}], "cursor": None}

    with pytest.raises((AssertionError, ValidationError)):
        test_every_answer_has_an_example(changed)


def test_two_schemas_of_one_title_are_refused() -> None:
    """The mutant: a second model that would hide the first."""
    schemas = {"A": {"title": "Memory"}, "B": {"title": "Memory"}}

    with pytest.raises(ValueError, match="share a title"):
        titled({"components": {"schemas": schemas}})
