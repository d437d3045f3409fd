"""A summary of what was said long ago, and the newest messages, go into the prompt (Chinese)."""

# ruff: noqa: INP001, T201 (an example is a file, and prints)

import recollect
from recollect.conversation import ConversationSummaryBufferMemory
from recollect.testing import ScriptedModel

TALK = [
    ("我想给爷爷过八十岁生日。", "好的，打算请多少人？"),
    ("二十个人，他不吃辣。", "那就订一家清淡的粤菜馆。"),
    ("定在五月六号晚上。", "记下了，我去查空位。"),
    ("蛋糕要少糖的。", "好，订一个少糖的水果蛋糕。"),
]
MODEL = ScriptedModel(
    [
        "用户要给爷爷过八十岁生日。",
        "用户要给爷爷过八十岁生日，请二十人，爷爷不吃辣，订清淡的粤菜馆。",
    ]
)

with recollect.open_sync("memory:", embedder="none") as memory:
    talk = ConversationSummaryBufferMemory(
        memory,
        ("用户", "小林"),
        "生日",
        llm=MODEL,
        max_token_limit=50,
        human_prefix="用户",
        ai_prefix="助手",
    )
    for asked, answered in TALK:
        talk.save_context({"input": asked}, {"output": answered})

    print(talk.load_memory_variables({})["history"])
    print(f"{len(TALK)} 轮对话，调用模型 {len(MODEL.requests)} 次")
    print(f"摘要代替了 {len(talk.expand())} 条消息，原话都还在")
