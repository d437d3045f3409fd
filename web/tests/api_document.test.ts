import { describe, expect, it } from "vitest";
import { curlOf, operationsOf } from "../src/lib/api_document";

const DOCUMENT = {
  paths: {
    "/threads": { post: { operationId: "create", responses: { 200: { description: "OK" } } } },
    "/v1/memories/{type}": {
      post: {
        operationId: "put", tags: ["memories"], summary: "Write", security: [{}],
        parameters: [
          { name: "type", in: "path", required: true, schema: { type: "string" }, example: "a b" },
          { name: "scope", in: "query", schema: { type: "array", items: { type: "string" } }, example: ["users", "ada"] },
          { name: "limit", in: "query", schema: { anyOf: [{ type: "integer" }, { type: "null" }] } },
        ],
        requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/Put" } } } },
        responses: { 200: { description: "OK", content: { "application/json": { schema: {}, example: { ok: true } } } }, 404: { $ref: "#/components/responses/Refused404" } },
      },
    },
  },
  components: {
    schemas: { Put: { properties: { value: { type: "object", description: "It." } }, required: ["value"], examples: [{ value: "it's" }] } },
    responses: { Refused404: { description: "Not Found", content: { "application/problem+json": { example: { code: "not_found" } } } } },
  },
};

describe("the description of the routes", () => {
  const [put, create] = operationsOf(DOCUMENT);

  it("is read with its references, our own routes first", () => {
    expect([put?.id, create?.id, create?.group]).toEqual(["put", "create", "langgraph"]);
    expect(put?.parameters.map((each) => [each.name, each.type])).toEqual([["type", "string"], ["scope", "string[]"], ["limit", "integer"]]);
    expect(put?.body).toMatchObject({ example: { value: "it's" }, fields: [{ name: "value", isRequired: true, description: "It." }] });
    expect(put?.answers.map((each) => [each.status, each.example])).toEqual([["200", { ok: true }], ["404", { code: "not_found" }]]);
  });

  it("becomes a command line that a shell reads as it is meant", () => {
    expect(put && curlOf(put, "http://localhost:8300/")).toBe(
      "curl -X POST 'http://localhost:8300/v1/memories/a%20b?scope=users&scope=ada' \\\n  -H \"x-api-key: $RECOLLECT_KEY\" \\\n  -H 'content-type: application/json' \\\n  -d '{\"value\":\"it'\\''s\"}'",
    );
  });

  it("reads the scope that is looked at, and writes only to that of the examples", () => {
    const parameters = [{ name: "scope", in: "query", schema: { type: "array" }, example: ["users", "ada"] }];
    const told = (path: string, method: string, tag: string) => operationsOf({ paths: { [path]: { [method]: { tags: [tag], parameters } } } })[0];
    const commands = [told("/v1/recall", "post", "recall"), told("/v1/recalls", "delete", "recall"), told("/v1/threads", "get", "threads"), told("/v1/form", "post", "formation")].map((each) => each && curlOf(each, "", ["big", "one two"]));
    expect(commands.map((each) => each?.replace(/^curl /, ""))).toEqual(["-X POST '/v1/recall?scope=big&scope=one+two'", "-X DELETE '/v1/recalls?scope=users&scope=ada'", "'/v1/threads?scope=big&scope=one+two'", "-X POST '/v1/form?scope=users&scope=ada'"]);
    const recall = told("/v1/recall", "post", "recall");
    expect(recall && curlOf(recall, "", [])).toBe("curl -X POST '/v1/recall'");
  });
});
