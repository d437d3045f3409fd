/** The service's own description of its routes, as the page shows it. */

import type { Json, JsonObject, Scope } from "../api/shapes";

export interface Parameter {
  name: string;
  where: string;
  type: string;
  description: string;
  isRequired: boolean;
  example: Json | undefined;
}

export interface Told {
  status: string;
  description: string;
  mediaType: string;
  example: Json | undefined;
}

export interface Operation {
  id: string;
  method: string;
  path: string;
  group: string;
  summary: string;
  description: string;
  parameters: Parameter[];
  body: { mediaType: string; example: Json | undefined; fields: Parameter[] } | null;
  answers: Told[];
  needsKey: boolean;
}

const METHODS = ["get", "post", "put", "patch", "delete"];
const isObject = (value: Json | undefined): value is JsonObject => value !== null && typeof value === "object" && !Array.isArray(value);
const objectAt = (value: Json | undefined, name: string): JsonObject => {
  const found = isObject(value) ? value[name] : undefined;
  return isObject(found) ? found : {};
};
const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");

/** What a reference stands for; anything else is itself. */
function followed(document: JsonObject, value: Json | undefined): JsonObject {
  let found: Json | undefined = value;
  for (let depth = 0; depth < 8 && isObject(found) && typeof found.$ref === "string"; depth++) {
    found = found.$ref.split("/").slice(1).reduce<Json | undefined>((at, name) => (isObject(at) ? at[name] : undefined), document);
  }
  return isObject(found) ? found : {};
}

/** The operations of a document, in its order; those of other programs' interfaces come last. */
export function operationsOf(document: JsonObject): Operation[] {
  const found = Object.entries(objectAt(document, "paths")).flatMap(([path, item]) =>
    METHODS.filter((method) => isObject(item) && isObject(item[method])).map((method) => operationOf(document, path, method, objectAt(item, method))));
  return [...found.filter((each) => each.path.startsWith("/v1")), ...found.filter((each) => !each.path.startsWith("/v1"))];
}

function operationOf(document: JsonObject, path: string, method: string, told: JsonObject): Operation {
  const parameters = Array.isArray(told.parameters) ? told.parameters : [];
  const [media] = Object.entries(objectAt(objectAt(told, "requestBody"), "content"));
  return {
    id: text(told.operationId),
    method: method.toUpperCase(),
    path,
    group: path.startsWith("/v1") ? text(Array.isArray(told.tags) ? told.tags[0] : "") || "service" : path.startsWith("/health") || path === "/metrics" ? "health" : "langgraph",
    summary: text(told.summary),
    description: text(told.description),
    parameters: parameters.filter(isObject).map((each) => parameterOf(document, each)),
    body: media ? { mediaType: media[0], example: objectOrNone(media[1], "example") ?? exampleIn(followed(document, objectAt(media[1], "schema"))), fields: fieldsOf(document, objectAt(media[1], "schema")) } : null,
    answers: Object.entries(objectAt(told, "responses")).map(([status, each]) => answerOf(document, status, followed(document, each))),
    needsKey: Array.isArray(told.security),
  };
}

const objectOrNone = (value: Json | undefined, name: string): Json | undefined => (isObject(value) ? value[name] : undefined);
const exampleIn = (schema: JsonObject): Json | undefined => (Array.isArray(schema.examples) ? schema.examples[0] : undefined);

function parameterOf(document: JsonObject, told: JsonObject): Parameter {
  const schema = objectAt(told, "schema");
  return { name: text(told.name), where: text(told.in), type: typeOf(document, schema), description: text(told.description), isRequired: told.required === true, example: told.example ?? exampleIn(schema) };
}

/** The fields of a body, one row each. */
function fieldsOf(document: JsonObject, schema: JsonObject): Parameter[] {
  const whole = followed(document, schema);
  const required = Array.isArray(whole.required) ? whole.required : [];
  return Object.entries(objectAt(whole, "properties")).filter((each): each is [string, JsonObject] => isObject(each[1])).map(([name, each]) => ({
    name, where: "body", type: typeOf(document, each), description: text(each.description) || text(followed(document, each).description), isRequired: required.includes(name), example: undefined,
  }));
}

/** A type in a word or two: "text", "text[]", "User or null". */
export function typeOf(document: JsonObject, schema: JsonObject): string {
  if (typeof schema.$ref === "string") return schema.$ref.split("/").at(-1) ?? "";
  if (Array.isArray(schema.enum)) return schema.enum.map(String).join(" | ");
  if (schema.const !== undefined) return String(schema.const);
  const options = [schema.anyOf, schema.oneOf].find(Array.isArray);
  if (options) return [...new Set(options.filter(isObject).map((each) => typeOf(document, each)))].filter((each) => each !== "null").join(" | ");
  if (schema.type === "array") return `${typeOf(document, objectAt(schema, "items")) || "any"}[]`;
  return text(schema.format) || text(schema.type) || "any";
}

function answerOf(document: JsonObject, status: string, told: JsonObject): Told {
  const [media] = Object.entries(objectAt(told, "content"));
  const example = media && (objectOrNone(media[1], "example") ?? exampleIn(followed(document, objectAt(media[1], "schema"))));
  return { status, description: text(told.description), mediaType: media?.[0] ?? "", example: example ?? undefined };
}

const quoted = (value: string): string => `'${value.replaceAll("'", "'\\''")}'`;
const asText = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

/** Whether the request only reads: copied without a look at its scope, it changes nothing there. */
const isReading = ({ method, group }: Operation): boolean => method === "GET" || (method === "POST" && group === "recall");

/** A command line that makes the request of the examples; one that only reads reads the scope that is looked at, since that of the examples holds nothing. */
export function curlOf(operation: Operation, base: string, looked?: Scope): string {
  let path = operation.path;
  const query = new URLSearchParams();
  for (const { name, where, example } of operation.parameters) {
    if (where === "path") path = path.replace(`{${name}}`, encodeURIComponent(example === undefined ? name.toUpperCase() : asText(example)));
    const given = looked && name === "scope" && isReading(operation) ? looked : example;
    if (where === "query" && given !== undefined) for (const each of Array.isArray(given) ? given : [given]) query.append(name, asText(each));
  }
  const search = query.toString();
  const lines = [`curl${operation.method === "GET" ? "" : ` -X ${operation.method}`} ${quoted(`${base.replace(/\/$/, "")}${path}${search ? `?${search}` : ""}`)}`];
  if (operation.needsKey) lines.push('-H "x-api-key: $RECOLLECT_KEY"');
  if (operation.body) {
    const { mediaType, example } = operation.body;
    lines.push(`-H ${quoted(`content-type: ${mediaType}`)}`);
    lines.push(mediaType.includes("json") && example !== undefined ? `-d ${quoted(typeof example === "string" ? example : JSON.stringify(example))}` : "--data-binary @FILE");
  }
  return lines.join(" \\\n  ");
}
