import { expect, test } from "vitest";
import { matching, READ_MAX, readScopes } from "../src/lib/scope_choice";

const page = (from: number, count: number, next?: string) => ({ scopes: Array.from({ length: count }, (_, n) => ["users", `u${from + n}`]), cursor: next ?? null });

test("scopes of all pages are searched, and what is not shown is told", async () => {
  const pages = [page(0, 200, "200"), page(200, 200, "400"), page(400, 50)];
  const all = await readScopes(async (cursor) => pages[Number(cursor ?? 0) / 200] ?? page(0, 0));
  expect(all.scopes.length).toBe(450);
  expect(matching(all, "U449")).toEqual({ shown: [["users", "u449"]], hasMore: false });
  expect(matching(all, "").shown.length).toBe(100);
  expect(matching(all, "").hasMore).toBe(true);
});

test("a service with very many scopes is not read to its end, and that is told", async () => {
  let asked = 0;
  const all = await readScopes(async () => { asked += 1; return page(asked * 200, 200, "more"); });
  expect(all.scopes.length).toBe(READ_MAX);
  expect(matching(all, "nobody")).toEqual({ shown: [], hasMore: true });
});

test("the key's own scope is no choice among those below it", async () => {
  const all = await readScopes(async () => ({ scopes: [[], ["ada"]], cursor: null }));
  expect(matching(all, "")).toEqual({ shown: [["ada"]], hasMore: false });
});
