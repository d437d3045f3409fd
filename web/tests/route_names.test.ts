import { describe, expect, it } from "vitest";
import type { Operation } from "../src/lib/api_document";
import { loadRouteNames, named } from "../src/lib/route_names";

const operation = (id: string) => ({ id, summary: "Search" }) as Operation;

describe("a route", () => {
  it("is named in the reader's language by its operation, and a newer one as the service names it", async () => {
    const [zh, hant, en] = await Promise.all((["zh", "zh-hant", "en"] as const).map(loadRouteNames));
    const said = (names: typeof zh, id: string) => names && named([operation(id)], names)[0]?.summary;
    expect([said(zh, "rotate_key"), said(hant, "rotate_key"), said(en, "rotate_key")]).toEqual(["轮换密钥", "輪替金鑰", "Search"]);
    expect(said(zh, "of_tomorrow")).toBe("Search");
  });
});
