// Run by tests/service/test_typescript_client.py, which starts the service and names it.
import assert from "node:assert/strict";
import http from "node:http";
import { after, test } from "node:test";
import { Recollect, RecollectError } from "recollect-client";

const { RECOLLECT_URL: url, RECOLLECT_KEY: key } = process.env;
const memory = new Recollect({ url, key });
const HOME = { subject: "Ada", predicate: "lives in", object: "Oslo" };
const servers = [];
after(() => servers.forEach((each) => each.closeAllConnections() ?? each.close()));

/** Return the address of a server of a few lines, which ends with the tests. */
async function listening(handle) {
  const server = http.createServer(handle);
  servers.push(server);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${server.address().port}`;
}

/** Return the address of a proxy that breaks the connection of the first request once it is carried out. */
async function breaking(methods, count = 1) {
  const requests = [];
  const address = await listening(async (request, response) => {
    const chunks = [];
    for await (const each of request) chunks.push(each);
    const body = Buffer.concat(chunks);
    const headers = { ...request.headers };
    for (const name of ["host", "connection", "content-length", "transfer-encoding"]) delete headers[name];
    const { method } = request;
    const answer = await fetch(url + request.url, { method, headers, body: body.length ? body : undefined });
    const text = await answer.text();
    requests.push(headers["idempotency-key"]);
    if (methods.includes(method) && requests.length <= count) return response.destroy();
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" }).end(text || undefined);
  });
  return { address, requests };
}

const refused = (expected) => (error) => {
  assert.ok(error instanceof RecollectError, String(error));
  for (const [name, each] of Object.entries(expected)) assert.deepEqual(error[name], each, `${name}: ${error.message}`);
  return true;
};

test("what is appended is recalled, and in the context", async () => {
  const kept = await memory.append("ada", "holidays", ["We moved to Oslo in May.", { role: "assistant", text: "Nice!" }]);
  assert.deepEqual(kept.map((each) => [each.role, each.position]), [["user", 1], ["assistant", 2]]);
  const found = await memory.recall("ada", "Where do we live, Oslo?", { limit: 3 });
  assert.equal(found.entries[0].text, "We moved to Oslo in May.");
  assert.match((await memory.context("ada", "Oslo?", { budget_tokens: 300 })).text, /We moved to Oslo in May/);
  assert.deepEqual((await memory.messages("ada", "holidays", { last: 1 })).messages.map((each) => each.text), ["Nice!"]);
  assert.equal((await memory.thread("ada", "holidays")).id, "holidays");
  assert.deepEqual([await memory.thread("ada", "none"), (await memory.messages("ada", "none")).messages], [null, []]);
});

test("a scope that is missing is refused before anything is sent", async () => {
  let sent = 0;
  const counting = (...given) => (sent++, fetch(...given));
  const client = new Recollect({ url, key, fetch: counting });
  const usage = (words) => (error) => refused({ status: 0, code: "usage" })(error) && words.test(error.message);
  const whole = /a scope is a text or a list of texts, such as "ada"/;
  const part = /each part of a scope is a text of at least one character/;
  const wrong = [[undefined, whole], [null, whole], [5, /give '5' as a text/], [{}, whole], ["", part]];
  const parts = [["users", undefined], ["users", null], ["users", ""], ["users", 5], new Array(2)];
  for (const [scope, words] of [...wrong, ...parts.map((each) => [each, part])]) {
    const calls = {
      append: () => client.append(scope, "talk", "My PIN is 4711."),
      recall: () => client.recall(scope, "PIN?"),
      erase: () => client.erase(scope, { scope: true, below: true }),
      put: () => client.put(scope, "Fact", "home", HOME),
      threads: () => client.threads(scope),
      scopes: () => client.scopes(scope),
      receipts: () => client.receipts(scope),
      request: () => client.request("get", "/v1/usage", { scope }),
      chat: async () => { for await (const _ of client.chat(scope, { thread: "talk", text: "Hi" })); },
      changes: async () => { for await (const _ of client.changes(scope)); },
      export: async () => { for await (const _ of client.export(scope)); },
    };
    for (const [name, call] of Object.entries(calls)) await assert.rejects(call, usage(words), `${name} of ${String(scope)}`);
  }
  assert.equal(sent, 0);
  // The key's own scope can still be meant.
  assert.deepEqual([(await client.recall([], "PIN?")).entries, (await client.scopes()).scopes, (await client.receipts()).length], [[], [], 0]);
  await assert.rejects(client.append("ada", "My PIN is 4711."), usage(/the messages are missing, or the thread is/));
});

test("Chinese text and names with slashes come back as they went", async () => {
  const said = "我五月搬到了奥斯陆，喜欢喝绿茶。😀";
  await memory.append(["用户", "小明/二"], "聊天/一", said);
  const found = await memory.recall(["用户", "小明/二"], "奥斯陆 绿茶");
  assert.deepEqual([found.entries[0].text, found.entries[0].thread], [said, "聊天/一"]);
  const told = await memory.put(["用户", "小明/二"], "Note", "茶 100%?#", { context: "饮料", content: "喜欢绿茶" });
  assert.deepEqual((await memory.get(["用户", "小明/二"], "Note", "茶 100%?#")).value, told.value);
});

test("a memory is put, corrected at its version, and the correction undone", async () => {
  const first = await memory.put("eve", "Fact", "home", HOME, { expected: 0 });
  const second = await memory.put("eve", "Fact", "home", { ...HOME, object: "Bergen" }, { expected: first.version, undo: true });
  const stale = memory.put("eve", "Fact", "home", { ...HOME, object: "Rome" }, { expected: 1 });
  await assert.rejects(stale, refused({ status: 412, code: "version_conflict" }));
  assert.deepEqual((await memory.history("eve", "Fact", "home")).map((each) => each.value.object), ["Oslo", "Bergen"]);
  await memory.undo("eve", second.undo);
  assert.equal((await memory.get("eve", "Fact", "home")).value.object, "Oslo");
  const ended = await memory.end("eve", "Fact", "home", "2026-06-01T00:00:00Z");
  assert.equal(ended.valid_until, "2026-06-01T00:00:00Z");
  assert.equal((await memory.restore("eve", "Fact", "home", 1)).valid_until, null);
  assert.equal((await memory.reject("eve", "Fact", "home")).state, "rejected");
});

test("memories are remembered, listed, deleted together and brought back", async () => {
  const note = await memory.remember("eli", "Eli prefers short answers.");
  assert.equal((await memory.remember("eli", "eli prefers short answers")).key, note.key);
  assert.equal((await memory.memories("eli", { type: "Note" })).memories.length, 1);
  const each = { type: note.type, key: note.key, version: note.version };
  const gone = await memory.change("eli", { act: "delete", memories: [each] }, { undo: true });
  assert.equal(await memory.get("eli", note.type, note.key), null);
  await memory.undo("eli", gone.undo);
  for (const _ of [1, 2]) await memory.delete("eli", note.type, note.key);
  assert.equal(await memory.get("eli", note.type, note.key), null);
});

test("what is erased is gone, and has a receipt", async () => {
  const [said] = await memory.append("joe", "secrets", ["The code is 4711.", "Forget it."]);
  assert.equal(await memory.remove("joe", "secrets", [said.id, "none"]), 1);
  const preview = await memory.previewErase("joe", { thread: "secrets" });
  assert.equal(preview.messages, 1);
  const receipt = await memory.confirmErase("joe", preview);
  assert.deepEqual((await memory.receipts("joe")).map((each) => each.id), [receipt.id]);
  assert.deepEqual((await memory.recall("joe", "code 4711")).entries, []);
  await assert.rejects(memory.erase("joe", { thread: "secrets", scope: true }), refused({ status: 422 }));
});

test("it is formed, exported and imported", async () => {
  await memory.append("ann", "t", "My name is Ann. I live in Turku.");
  assert.deepEqual((await memory.form("ann", "t")).map((each) => each.end), ["formed"]);
  const records = [];
  for await (const each of memory.export("ann")) records.push(each);
  assert.deepEqual([...new Set(records.map((each) => each.kind))].includes("message"), true);
  assert.equal((await memory.importRecords(records)).refused_count, 0);
  assert.equal((await memory.formations("ann")).formations.length, 1);
  assert.deepEqual((await memory.pending("ann")).pending, []);
});

test("changes come as they happen, and go on from an id", { timeout: 20_000 }, async () => {
  const ending = new AbortController();
  await memory.append("sue", "t", "before");
  const stream = memory.changes("sue", { signal: ending.signal });
  const next = stream.next();
  await new Promise((resolve) => setTimeout(resolve, 500));
  await memory.append("sue", "t", "one");
  const { value } = await next;
  assert.deepEqual([value.event, value.data.kind, value.data.position], ["change", "message", 2]);
  await memory.append("sue", "t", "two");
  for await (const each of memory.changes("sue", { last_event_id: value.id })) {
    assert.equal(each.data.position, 3);
    break;
  }
  const waiting = (async () => { for await (const _ of stream); })();
  ending.abort(new Error("seen enough"));
  await assert.rejects(waiting, /seen enough/);
});

test("a turn is answered in pieces", async () => {
  const events = [];
  for await (const each of memory.chat("kim", { thread: "t", text: "My name is Kim." })) events.push(each);
  assert.deepEqual([events[0].event, events.at(-1).event], ["kept", "done"]);
  assert.equal(events[0].data.user.text, "My name is Kim.");
});

test("an append whose connection broke is made again, and kept once", async () => {
  const { address, requests } = await breaking(["POST"]);
  const [said] = await new Recollect({ url: address, key }).append("una", "t", "once");
  assert.equal(said.text, "once");
  assert.equal(requests.length, 2);
  assert.ok(requests[0] && requests[0] === requests[1]);
  assert.equal((await memory.messages("una", "t")).messages.length, 1);
  for (const _ of [1, 2]) await memory.append("una", "t", "twice", { idempotency_key: "turn-1" });
  assert.equal((await memory.messages("una", "t")).messages.length, 2);
});

test("the check can fail: without its key the append is doubled", async () => {
  const { address, requests } = await breaking(["POST"]);
  const keyless = (to, { headers, ...rest }) => fetch(to, { ...rest, headers: { ...headers, "idempotency-key": String(Math.random()) } });
  await new Recollect({ url: address, key, fetch: keyless }).append("dup", "t", "once");
  assert.equal(requests.length, 2);
  assert.equal((await memory.messages("dup", "t")).messages.length, 2);
});

test("forming is not made again", async () => {
  const { address, requests } = await breaking(["POST"]);
  const forming = new Recollect({ url: address, key }).form("una");
  await assert.rejects(forming, (error) => refused({ status: 0, code: "unavailable" })(error) && /may have been carried out/.test(error.message));
  assert.equal(requests.length, 1);
});

test("a wrong key, a wrong name and a wrong field are told with code and request id", async () => {
  const wrong = new Recollect({ url, key: "rk_wrong" }).me();
  await assert.rejects(wrong, (error) => refused({ status: 401, code: "unknown_key" })(error) && /^\S+$/.test(error.requestId));
  await assert.rejects(new Recollect({ url }).me(), refused({ status: 401 }));
  const field = memory.append("ada", "t", { role: "human", text: "Hi" });
  await assert.rejects(field, (error) => refused({ status: 422, code: "usage" })(error) && error.errors.length > 0);
  for (const name of ["", ".", ".."]) await assert.rejects(memory.get("ada", "Fact", name), refused({ status: 0, code: "usage" }));
  await assert.rejects(memory.get("ada", "Fact", "\ud800"), refused({ code: "usage" }));
  assert.throws(() => new Recollect({ url: "localhost:8300" }), refused({ code: "usage" }));
  assert.throws(() => new Recollect({ url, key: "rk_1 " }), refused({ code: "usage" }));
});

test("a service that is gone, or does not answer in time, is told", async () => {
  const gone = http.createServer();
  await new Promise((resolve) => gone.listen(0, "127.0.0.1", resolve));
  const { port } = gone.address();
  await new Promise((resolve) => gone.close(resolve));
  const away = new Recollect({ url: `http://127.0.0.1:${port}`, retries: 1 });
  await assert.rejects(away.me(), refused({ status: 0, code: "unavailable" }));
  let asked = 0;
  const silent = new Recollect({ url: await listening(() => asked++), timeoutMs: 100, retries: 1 });
  await assert.rejects(silent.append("ada", "t", "Hi"), refused({ status: 0, code: "timeout", message: "no answer came within 100 ms" }));
  assert.equal(asked, 2);
  await assert.rejects(silent.me({ signal: AbortSignal.timeout(20), timeoutMs: Infinity }), { name: "TimeoutError" });
  await assert.rejects(memory.me({ signal: AbortSignal.abort() }), { name: "AbortError" });
});

test("a busy service is asked again when it says so; another's page is an error", async () => {
  let asked = 0;
  const busy = await listening((_, response) => {
    const problem = { type: "", title: "", status: 429, code: "quota", detail: "too many", facts: { retry_after_s: 1 } };
    if (asked++ === 0) response.writeHead(429, { "retry-after": "0", "content-type": "application/problem+json" }).end(JSON.stringify(problem));
    else response.writeHead(429, { "retry-after": "60", "content-type": "application/problem+json" }).end(JSON.stringify(problem));
  });
  await assert.rejects(new Recollect({ url: busy }).me(), refused({ status: 429, code: "quota", facts: { retry_after_s: 1 } }));
  assert.equal(asked, 2);
  const page = await listening((request, response) => {
    if (request.url === "/v1/me") response.writeHead(200, { "content-type": "text/html" }).end("<html>");
    else response.writeHead(302, { location: "/v1/me" }).end();
  });
  await assert.rejects(new Recollect({ url: page }).me(), refused({ status: 200, code: "error" }));
  await assert.rejects(new Recollect({ url: page }).scopes(), refused({ status: 302, code: "error" }));
});
