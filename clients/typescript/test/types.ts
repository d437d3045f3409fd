// Compiled, and never run: each line below `@ts-expect-error` must fail to compile.
import { type Memory, Recollect, RecollectError } from "recollect-client";

export const memory = new Recollect({ url: "http://127.0.0.1:8300", key: "rk_1", timeoutMs: 100, retries: 0 });

// @ts-expect-error the address is missing
new Recollect({ key: "rk_1" });
// @ts-expect-error no such setting
new Recollect({ url: "http://127.0.0.1:8300", timeout: 1 });

export async function compiles(signal: AbortSignal): Promise<string> {
  const [said] = await memory.append("ada", "t", [{ role: "user", text: "Hi", time: "2026-05-01T00:00:00Z" }], { signal });
  const put = await memory.put(["users", "ada"], "Fact", "home", { any: ["thing", { at: 1 }] }, { expected: 0, undo: true });
  const token: string | null | undefined = put.undo;
  const kept: Memory | null = await memory.get("ada", "Fact", "home");
  const days = (await memory.request("get", "/v1/usage", { scope: "ada", query: { days: 7 } })).days;
  for await (const told of memory.changes("ada")) if (told.event === "change" && told.data.kind === "removed") told.data.count;
  for (const each of (await memory.recall("ada", "home?", { limit: 3, roles: ["user"] })).entries)
    if (each.kind === "memory") each.version;
  return [said?.text, token, kept?.state === "active", days.length, new RecollectError({}).requestId].join();
}

export async function failsToCompile(): Promise<void> {
  // @ts-expect-error no such role
  await memory.append("ada", "t", { role: "human", text: "Hi" });
  // @ts-expect-error the field is `text`
  await memory.append("ada", "t", { role: "user", txt: "Hi" });
  // @ts-expect-error a scope is texts
  await memory.append(["ada", 7], "t", "Hi");
  // @ts-expect-error the field of the wire is `budget_tokens`
  await memory.context("ada", "home?", { budgetTokens: 500 });
  // @ts-expect-error the limit is a number
  await memory.recall("ada", "home?", { limit: "3" });
  // @ts-expect-error no such field of a result
  (await memory.recall("ada", "home?")).results;
  // @ts-expect-error no memory may be found
  (await memory.get("ada", "Fact", "home")).value;
  // @ts-expect-error a value is an object
  await memory.put("ada", "Fact", "home", "Oslo");
  // @ts-expect-error the version is a number
  await memory.put("ada", "Fact", "home", {}, { expected: "1" });
  // @ts-expect-error no such act
  await memory.change("ada", { act: "forget", memories: [] });
  // @ts-expect-error no such target
  await memory.erase("ada", { everything: true });
  // @ts-expect-error no such route
  await memory.request("get", "/v1/nothing", {});
  // @ts-expect-error the route has no such verb
  await memory.request("put", "/v1/usage", {});
  // @ts-expect-error no such query
  await memory.request("get", "/v1/usage", { query: { weeks: 1 } });
  // @ts-expect-error the names of the path are missing
  await memory.request("get", "/v1/threads/{thread}", {});
}
