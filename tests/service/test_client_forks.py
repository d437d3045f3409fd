"""A client and forks: a child uses no connection of its parent."""

from recollect.server.testing import Served
from tests.harness.forked_programs import run_program

FORKED = """
import asyncio, os, sys, threading
from recollect.client import Client
from recollect.errors import StoreClosedError
ADA, BOB = ("users", "forked"), ("users", "bob")
def child(client):
    try:
        asyncio.run(asyncio.wait_for(client.messages(ADA, "talk"), 5))
    except StoreClosedError as error:
        os._exit(7 if "open one after the fork" in str(error) else 2)
    finally:
        os._exit(1)
async def main(url, key):
    async with Client(url, key) as client:
        await client.append(ADA, "talk", "a violin")
        await client.append(BOB, "talk", "a boat")
        pid = os.fork()
        if not pid:
            thread = threading.Thread(target=child, args=[client])
            thread.start()
            thread.join()
        _, status = os.waitpid(pid, 0)
        found = await client.messages(BOB, "talk")
        print(os.waitstatus_to_exitcode(status), [each.text for each in found.rows])
asyncio.run(main(*sys.argv[1:]))
"""


def test_a_forked_child_reads_no_answer_of_its_parent(served: Served) -> None:
    """Both have the sockets: what the child asked for was the answer to the parent's question."""
    found = run_program(FORKED, served.url, served.key)

    assert ("7 ['a boat']\n", "") == (found.stdout, found.stderr)
