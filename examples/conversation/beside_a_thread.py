"""Named state and attachments stand beside the messages of a thread, and go with it."""

# ruff: noqa: INP001, T201 (an example is a file, and prints)

import recollect

UNA = ("shop", "customers", "una")

with recollect.open_sync("memory:", embedder="none") as memory:
    # A message, what it changes, and its file: all of it is kept, or nothing.
    memory.append(
        UNA,
        "order 77",
        [recollect.NewMessage(role="user", text="Here is the receipt. Please send me a blue one.")],
        state={"cart": {"lamp": 1}, "step": "colour"},
        attachments=[
            recollect.Attachment(name="receipt.txt", data=b"Lamp, 39.00", media_type="text/plain")
        ],
    )
    memory.set_state(UNA, "order 77", {"step": "payment"})
    print(memory.state(UNA, "order 77"))

    for each in memory.attachments(UNA, "order 77"):
        print(each.name, each.media_type, each.bytes)
    receipt = memory.attachment(UNA, "order 77", "receipt.txt")
    print(receipt.data.decode() if receipt else "")

    memory.erase(UNA, recollect.EraseThread(thread="order 77"))
    print(memory.state(UNA, "order 77"), memory.attachments(UNA, "order 77"))
