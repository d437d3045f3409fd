"""An assistant with a memory around any chat API, by `append`, `context` and the guide alone."""

# ruff: noqa: INP001, T201 (an example is a file, and prints)

import recollect
from recollect import SyncRecollect, context_guide

ADA = ("users", "ada")


def chat(messages: list[dict[str, str]]) -> str:
    """Answer as a provider's model would; here by what the system text and the talk hold."""
    *before, asked = (each["content"] for each in messages)
    known = "\n".join(before)
    if not asked.endswith("?"):
        return "Good to know."
    return "She is called Ida." if "Ida" in known else "You have not told me."


def answer(memory: SyncRecollect, thread: str, question: str) -> str:
    """Answer with what is remembered, and remember both."""
    if not question.strip():
        return "Please say something."
    context = memory.context(ADA, question, thread=thread, history_tokens=1_000)
    system = {"role": "system", "content": f"{context_guide()}\n\n{context}"}
    history = [{"role": each.role, "content": each.text} for each in context.history]
    asked = {"role": "user", "content": question}
    memory.append(ADA, thread, asked)  # before the call, so that no failure loses it
    reply = chat([system, *history, asked])
    if not reply:
        return "No answer came: please ask again."
    memory.append(ADA, thread, {"role": "assistant", "content": reply})
    return reply


def main() -> None:
    """Talk on three days."""
    with recollect.open_sync("memory:", embedder="none") as memory:
        for thread, question in (
            ("monday", "What is my boat called?"),
            ("monday", "We named the boat Ida, at last."),
            ("tuesday", "What is my boat called?"),
            ("wednesday", "Hello!"),
        ):
            print(f"{thread}: {question} -> {answer(memory, thread, question)}")


main()
