// Run by tests/service/test_typescript_client.py; it stops the service that it is given.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Recollect } from "recollect-client";

test("a service that stops ends the changes, and is told to be away", { timeout: 30_000 }, async () => {
  const memory = new Recollect({ url: process.env.RECOLLECT_URL, key: process.env.RECOLLECT_KEY, retries: 1 });
  const seen = [];
  await assert.rejects(
    async () => {
      const stream = memory.changes("ada");
      const next = stream.next();
      await new Promise((resolve) => setTimeout(resolve, 500));
      await memory.append("ada", "t", "Hi");
      seen.push((await next).value.data.kind);
      process.kill(Number(process.env.RECOLLECT_PID), "SIGTERM");
      for await (const each of stream) seen.push(each.data.kind);
    },
    { name: "RecollectError", status: 0, code: "unavailable" },
  );
  assert.deepEqual(seen, ["message"]);
  await assert.rejects(memory.append("ada", "t", "Hi again"), { code: "unavailable" });
});
