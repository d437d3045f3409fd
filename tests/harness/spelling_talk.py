"""A talk and a question that only an embedder connects."""

from recollect import NewMessage

# No word of the question is, in any form, a word of the message; their spelling is alike.
MEANT, ASKED = "She photographs owls at night", "photography"
TALK = [
    NewMessage(role="user", text="I moved to Porto in spring", id="m1"),
    NewMessage(role="user", text=MEANT, id="m2"),
    NewMessage(role="user", text="My boat is called Kestrel", id="m3"),
]
