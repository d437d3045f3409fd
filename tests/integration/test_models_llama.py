"""
A real llama.cpp server with random weights: the wire, grammars, streaming, deadlines.

Its answers are well-formed and make no sense, which no stand-in is as good at. It runs in a
process of its own: this file is that process's program, too.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import numpy as np
import pytest

from recollect.errors import ModelUnavailableError
from recollect.models import ToolMode, open_model
from recollect.ports import Model, ModelAnswer, ModelRequest, Tool, ToolCall, Turn

pytestmark = pytest.mark.anyio

ASKED = 16
WIDTH, HEADS, LAYERS, INNER = 64, 4, 2, 128
TEMPLATE = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:"
# Beside ASCII: what a text may hold and a careless reader trips over.
SIGNS = "éßñ我养猫，。\u202e\u2028\ufeff\U0001f642"
# Halves of signs, which a random choice of bytes would leave behind.
NO_BYTES = {str(3 + byte): -100 for byte in range(128, 256)}

NOTE = Tool(
    name="insert_note",
    description="Keep a note.",
    parameters={
        "type": "object",
        "properties": {
            "text": {"type": "string", "maxLength": 20},
            "mood": {"type": "string", "enum": ["good", "bad"]},
        },
        "required": ["text", "mood"],
        "additionalProperties": False,
    },
)
PERSON = Tool(
    name="insert_person",
    description="Keep a person.",
    parameters={
        "$defs": {"age": {"type": "integer", "minimum": 0, "maximum": 120}},
        "type": "object",
        "properties": {"age": {"$ref": "#/$defs/age"}},
        "required": ["age"],
        "additionalProperties": False,
    },
)


def write_weights(path: Path, seed: int) -> None:
    """Write a tiny model of the Llama kind with random weights, one token a sign."""
    import gguf

    random = np.random.default_rng(seed)
    marks = gguf.TokenType
    pieces = [b"<unk>", b"<s>", b"</s>", *(f"<0x{byte:02X}>".encode() for byte in range(256))]
    kinds = [marks.UNKNOWN, marks.CONTROL, marks.CONTROL, *[marks.BYTE] * 256]
    pieces += [bytes([letter]) for letter in range(33, 127)] + [sign.encode() for sign in SIGNS]
    kinds += [marks.NORMAL] * (94 + len(SIGNS))
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(4096)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(pieces))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(pieces)
    writer.add_token_scores([0.0] * len(pieces))
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template(TEMPLATE)
    shapes = {"token_embd": (len(pieces), WIDTH), "output": (len(pieces), WIDTH)}
    for layer in range(LAYERS):
        names = ("attn_q", "attn_k", "attn_v", "attn_output")
        shapes |= {f"blk.{layer}.{name}": (WIDTH, WIDTH) for name in names}
        shapes |= {f"blk.{layer}.ffn_{name}": (INNER, WIDTH) for name in ("gate", "up")}
        shapes[f"blk.{layer}.ffn_down"] = (WIDTH, INNER)
    norms = [
        "output_norm",
        *(f"blk.{n}.{kind}_norm" for n in range(LAYERS) for kind in ("attn", "ffn")),
    ]
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", random.normal(0, 0.5, shape).astype(np.float32))
    for name in norms:
        writer.add_tensor(f"{name}.weight", np.ones(WIDTH, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def serve(weights: str) -> None:
    """Serve *weights* until standard input ends; say the address first."""
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = weights
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.n_ctx = 8192
    settings.n_parallel = 2
    settings.cpuparams.n_threads = 1
    settings.warmup = False
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)  # noqa: T201  # the parent reads it
    sys.stdin.read()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    weights = tmp_path_factory.mktemp("llama") / "random.gguf"
    write_weights(weights, seed=7)
    with subprocess.Popen(
        [sys.executable, __file__, str(weights)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        address = server.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        yield f"{address}/v1"
        server.stdin.close()
        try:
            server.wait(10)
        finally:
            server.kill()


def opened(
    url: str, *, tools: ToolMode = "auto", timeout_s: float = 20, **settings: object
) -> Model:
    return open_model(
        "openai/random",
        base_url=url,
        tools=tools,
        timeout_s=timeout_s,
        settings={"temperature": 1.5, "logit_bias": NO_BYTES, **settings},
    )


def asking(text: str, *, output_tokens_max: int = 250, must_call: bool = False) -> ModelRequest:
    return ModelRequest(
        system="Remember what is worth it.",
        turns=(Turn(role="user", text=text),),
        tools=(NOTE, PERSON),
        must_call=must_call,
        output_tokens_max=output_tokens_max,
    )


def complaints(answer: ModelAnswer) -> list[str]:
    """Say what in a whole answer goes against the schemas of its tools."""
    found = []
    for call in answer.calls:
        arguments = json.loads(str(call.arguments), strict=False)
        fits = (
            call.name == NOTE.name
            and arguments.keys() == {"text", "mood"}
            and len(arguments["text"]) <= 20
            and arguments["mood"] in ("good", "bad")
        ) or (
            call.name == PERSON.name
            and arguments.keys() == {"age"}
            and 0 <= arguments["age"] <= 120
        )
        found += [] if fits else [f"{call.name} {call.arguments}"]
    return found


def is_broken(call: ToolCall) -> bool:
    """Return True if a strict reader refuses *call*."""
    try:
        json.loads(str(call.arguments), strict=False)
    except ValueError:
        return True
    return call.name not in (NOTE.name, PERSON.name)


async def test_random_answers_keep_to_the_schema(url: str) -> None:
    """Whatever they say, each whole answer is calls of the tools with arguments that fit."""
    model = opened(url)
    random = np.random.default_rng(11)
    signs = list("Ada Oslo 我养猫 \u202e")
    answers: list[ModelAnswer] = []

    async def ask(text: str) -> None:
        answers.append(await model.answer(asking(text, must_call=True)))

    async with anyio.create_task_group() as group:
        for _ in range(ASKED):
            group.start_soon(ask, "".join(random.choice(signs, 30)))

    whole = [answer for answer in answers if answer.stopped == "end"]
    assert ASKED == len(answers)
    assert len(whole) > ASKED // 2
    assert [] == [each for answer in whole for each in complaints(answer)]
    assert all(answer.calls and not answer.text for answer in whole)
    assert {NOTE.name, PERSON.name} == {call.name for answer in whole for call in answer.calls}
    assert all(answer.usage.input_tokens and answer.usage.output_tokens for answer in answers)


async def test_an_answer_cut_at_its_limit_is_never_taken_for_whole(url: str) -> None:
    """It says so; of the shortest, the only call is broken: it cannot be told "nothing to keep"."""
    model = opened(url)

    answers = [
        await model.answer(asking("I am Ada.", output_tokens_max=limit, must_call=True))
        for limit in range(1, 40, 3)
    ]

    cut = [answer for answer in answers if answer.stopped == "length"]
    assert len(cut) > len(answers) // 2
    assert all(answer.calls and not answer.text for answer in cut)
    assert all(is_broken(answer.calls[-1]) for answer in cut[:5])


async def test_tools_in_words_meet_a_model_that_heeds_none(url: str) -> None:
    """Without a grammar the text is noise: it is told as a nameless call, never as nothing."""
    model = opened(url, tools="prompt", ignore_eos=True)

    answer = await model.answer(asking("I am Ada.", output_tokens_max=30))

    assert [""] == [call.name for call in answer.calls]
    assert answer.text == ""


async def test_it_streams(url: str) -> None:
    """Random text comes in pieces."""
    talk = ModelRequest(system="", turns=(Turn(role="user", text="Hi"),), output_tokens_max=60)

    pieces = [piece async for piece in opened(url, ignore_eos=True).stream(talk)]

    assert len(pieces) > 1


async def test_a_long_answer_does_not_outlast_the_deadline(url: str) -> None:
    """And the server goes on serving."""
    endless = ModelRequest(
        system="", turns=(Turn(role="user", text="Hi"),), output_tokens_max=3_000
    )
    model = opened(url, timeout_s=0.15, ignore_eos=True)

    with pytest.raises(ModelUnavailableError, match=r"within 0\.15 s"):
        await model.answer(endless)
    after = await opened(url).answer(asking("I am Ada."))

    assert after.usage.input_tokens > 0


if __name__ == "__main__":
    serve(sys.argv[1])
