import { describe, expect, it } from "vitest";
import type { Operation } from "../src/lib/api_document";
import { loadRouteNames, loadRouteWords, named } from "../src/lib/route_names";

const operation = (id: string) => ({ id, summary: "Search", parameters: [], answers: [], body: null }) as unknown as Operation;

describe("a route", () => {
  it("is named in the reader's language by its operation, and a newer one as the service names it", async () => {
    const [zh, hant, en] = await Promise.all((["zh", "zh-hant", "en"] as const).map(loadRouteNames));
    const said = (names: typeof zh, id: string) => names && named([operation(id)], names, new Map())[0]?.summary;
    expect([said(zh, "rotate_key"), said(hant, "rotate_key"), said(en, "rotate_key")]).toEqual(["轮换密钥", "輪替金鑰", "Search"]);
    expect(said(zh, "of_tomorrow")).toBe("Search");
  });

  it("says what its parameters, its body and its answers mean, by the sentence of the service", async () => {
    const [names, sentences] = await loadRouteWords("zh");
    const told = (description: string) => ({ name: "it", description });
    const route = { ...operation("get_types"), parameters: [told("Maximum number of rows."), told("Of tomorrow.")], body: { fields: [told("Only messages of these threads.")] }, answers: [{ status: "404", description: "Not Found" }] } as unknown as Operation;
    const [said] = named([route], names, sentences);
    expect([said?.parameters, said?.body?.fields, said?.answers].map((all) => all?.map((each) => each.description))).toEqual([["最多返回的行数。", "Of tomorrow."], ["仅限这些会话的消息。"], ["未找到"]]);
  });
});
