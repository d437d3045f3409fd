// Run by tests/service/test_other_versions.py, at services that answer as those of other versions.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Recollect, VERSION } from "recollect-client";

const { RECOLLECT_KEY: key, NEWER: newer, OLDER: older, SAME: same, OTHER: other } = process.env;
const at = (url) => new Recollect({ url, key, retries: 0 });
const behind = `it is version 0.0.1, this client ${VERSION}; upgrade the service, or install the client of version 0.0.1`;

test("whatever a newer service added to its answers, they are read", async () => {
  const memory = at(newer);
  await memory.append("ts-newer", "t", "My boat is called Penelope.");
  assert.equal((await memory.recall("ts-newer", "boat")).entries[0].text, "My boat is called Penelope.");
  assert.match((await memory.context("ts-newer", "boat")).text, /Penelope/);
});

test("a route that a service of another version lacks is told, by who is to be upgraded", async () => {
  const facts = { service: "0.0.1", client: VERSION };
  const message = `the service has no GET /v1/threads: ${behind}`;
  await assert.rejects(at(older).threads("ada"), { code: "service_version", status: 404, facts, message });
  await assert.rejects(at(newer).threads("ada"), {
    code: "service_version",
    message: `the service has no GET /v1/threads: it is version 9.9.9, this client ${VERSION}; upgrade the client`,
  });
  await assert.rejects(at(same).threads("ada"), { code: "no_path", message: "there is no such path" });
});

test("a thread that a service of another version lacks is not taken for one that is not there", async () => {
  await assert.rejects(at(older).thread("ada", "none"), { code: "service_version" });
});

test("a field that an older service does not know is told by its name", async () => {
  const asking = at(older).recall("ada", "boat", { limit: 3 });
  const message = `the service does not know body/limit of POST /v1/recall: ${behind}`;
  await assert.rejects(asking, { code: "service_version", status: 422, message });
});

test("another program at the address is told", async () => {
  await assert.rejects(at(other).threads("ada"), { code: "usage", message: /not from a Recollect service/ });
});
