/** A form made from a JSON schema: its fields, what is typed in each, and the document that comes of it. */

import type { Json, JsonObject } from "../api/shapes";
import { pointerOf, shown, valueAt } from "./pointer";

export type FieldKind = "text" | "number" | "yes_no" | "choice" | "lines" | "group" | "json";

export interface FormField {
  pointer: string;
  steps: readonly string[];
  label: string;
  kind: FieldKind;
  about: string;
  isRequired: boolean;
  schema: JsonObject;
  choices: readonly Json[];
  fields: readonly FormField[];
}

/** What is typed, by pointer; a field without a text is left out of the document. */
export type Draft = Readonly<Record<string, string>>;

export type FaultWord = "required" | "number" | "whole" | "least" | "most" | "short" | "long" | "pattern" | "json" | "told";
export interface FieldFault {
  word: FaultWord;
  values?: Record<string, string | number>;
}

const DEPTH_MAX = 3;

/** The fields of a schema in its order, then those of the document that it does not name. */
export function fieldsOf(schema: JsonObject, value: JsonObject, at: readonly string[] = []): FormField[] {
  const properties = objectOf(schema.properties) ?? {};
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const names = [...new Set([...Object.keys(properties), ...Object.keys(value)])];
  return names.map((name) => fieldOf([...at, name], objectOf(properties[name]) ?? {}, value[name], required.has(name)));
}

function fieldOf(steps: readonly string[], schema: JsonObject, value: Json | undefined, isRequired: boolean): FormField {
  const kind = kindOf(schema, value, steps.length);
  const name = steps[steps.length - 1] ?? "";
  return {
    pointer: pointerOf(steps), steps, kind, schema, isRequired,
    label: typeof schema.title === "string" ? schema.title : name.replaceAll("_", " "),
    about: typeof schema.description === "string" ? schema.description : "",
    choices: Array.isArray(schema.enum) ? schema.enum : [],
    fields: kind === "group" ? fieldsOf(schema, objectOf(value) ?? {}, steps) : [],
  };
}

function kindOf(schema: JsonObject, value: Json | undefined, depth: number): FieldKind {
  if (Array.isArray(schema.enum) && schema.enum.every((each) => each === null || typeof each !== "object")) return "choice";
  const type = typeOf(schema) ?? typeOfValue(value);
  if (value !== undefined && value !== null && !fits(value, type)) return "json";
  if (type === "string") return "text";
  if (type === "integer" || type === "number") return "number";
  if (type === "boolean") return "yes_no";
  if (type === "array") return isLines(schema, value) ? "lines" : "json";
  if (type === "object" && depth < DEPTH_MAX && (objectOf(schema.properties) || objectOf(value))) return "group";
  return "json";
}

/** The type that a schema asks for; of one that also allows null, the other. */
function typeOf(schema: JsonObject): string | undefined {
  const named = Array.isArray(schema.type) ? schema.type : [schema.type];
  const types = named.filter((each): each is string => typeof each === "string" && each !== "null");
  if (types.length) return types.length === 1 ? types[0] : "any";
  const options = Array.isArray(schema.anyOf) ? schema.anyOf.map(objectOf).filter((each) => each !== undefined && each.type !== "null") : [];
  return options.length === 1 && options[0] ? typeOf(options[0]) : options.length ? "any" : undefined;
}

function typeOfValue(value: Json | undefined): string {
  if (value === undefined || value === null) return "string";
  if (Array.isArray(value)) return "array";
  return typeof value === "object" ? "object" : typeof value;
}

const fits = (value: Json, type: string): boolean => typeOfValue(value) === (type === "integer" ? "number" : type);

function isLines(schema: JsonObject, value: Json | undefined): boolean {
  const items = objectOf(schema.items);
  if (items && items.type !== "string") return false;
  if (value === undefined || value === null) return items !== undefined;
  return Array.isArray(value) && value.every((each) => typeof each === "string" && !each.includes("\n"));
}

const objectOf = (value: Json | undefined): JsonObject | undefined =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? value : undefined;

const leaves = (fields: readonly FormField[]): FormField[] => fields.flatMap((each) => (each.kind === "group" ? leaves(each.fields) : [each]));

/** What the fields hold of a document; those of a group, of its part of the document. */
export function draftOf(fields: readonly FormField[], value: JsonObject): Draft {
  const depth = (fields[0]?.steps.length ?? 1) - 1;
  return Object.fromEntries(leaves(fields).map((field) => [field.pointer, typedOf(field, valueAt(value, pointerOf(field.steps.slice(depth))))]));
}

function typedOf(field: FormField, value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  if (field.kind === "json") return JSON.stringify(value, null, 2);
  if (field.kind === "lines") return (value as string[]).join("\n");
  if (field.kind === "choice") return JSON.stringify(value);
  return shown(String(value));
}

export interface Filled {
  value: JsonObject;
  faults: ReadonlyMap<string, FieldFault>;
}

/** The document of what is typed, and what is wrong with it where; what was not touched stays exactly as it was. */
export function documentOf(fields: readonly FormField[], draft: Draft, before: JsonObject): Filled {
  const given = draftOf(fields, before);
  const faults = new Map<string, FieldFault>();
  const value: JsonObject = {};
  for (const field of fields) {
    const name = field.steps[field.steps.length - 1] ?? "";
    const found = field.kind === "group" ? groupOf(field, draft, before[name], faults) : fieldValue(field, draft[field.pointer] ?? "", given[field.pointer] ?? "", before[name], faults);
    if (found !== undefined) value[name] = found;
    else if (field.isRequired && !faults.has(field.pointer)) faults.set(field.pointer, { word: "required" });
  }
  return { value, faults };
}

/** A group of which nothing is filled in is left out with its faults, unless it was there before. */
function groupOf(field: FormField, draft: Draft, old: Json | undefined, faults: Map<string, FieldFault>): Json | undefined {
  const inner = documentOf(field.fields, draft, objectOf(old) ?? {});
  const isEmpty = !Object.keys(inner.value).length && [...inner.faults.values()].every((each) => each.word === "required");
  if (isEmpty && old === undefined && !field.isRequired) return undefined;
  for (const [pointer, fault] of inner.faults) faults.set(pointer, fault);
  return inner.value;
}

const fieldValue = (field: FormField, typed: string, given: string, old: Json | undefined, faults: Map<string, FieldFault>): Json | undefined =>
  typed === given ? old : valueOf(field, typed, faults);

function valueOf(field: FormField, typed: string, faults: Map<string, FieldFault>): Json | undefined {
  if (typed.trim() === "") return undefined;
  const read = readField(field, typed);
  if ("fault" in read) {
    faults.set(field.pointer, read.fault);
    return undefined;
  }
  return read.value;
}

type Read = { value: Json } | { fault: FieldFault };

function readField({ kind, schema }: FormField, typed: string): Read {
  if (kind === "lines") return { value: typed.split("\n").map((each) => each.trim()).filter(Boolean) };
  if (kind === "yes_no") return { value: typed === "true" };
  if (kind === "number") return readNumber(schema, typed);
  if (kind === "choice" || kind === "json") {
    try {
      return { value: JSON.parse(typed) as Json };
    } catch (error) {
      return { fault: { word: "json", values: { message: error instanceof Error ? error.message : "" } } };
    }
  }
  return readText(schema, typed);
}

function readNumber(schema: JsonObject, typed: string): Read {
  const number = Number(typed);
  if (!Number.isFinite(number)) return { fault: { word: "number" } };
  if (schema.type === "integer" && !Number.isInteger(number)) return { fault: { word: "whole" } };
  if (typeof schema.minimum === "number" && number < schema.minimum) return { fault: { word: "least", values: { least: schema.minimum } } };
  if (typeof schema.maximum === "number" && number > schema.maximum) return { fault: { word: "most", values: { most: schema.maximum } } };
  return { value: number };
}

function readText(schema: JsonObject, typed: string): Read {
  const length = [...typed].length;
  if (typeof schema.minLength === "number" && length < schema.minLength) return { fault: { word: "short", values: { count: schema.minLength } } };
  if (typeof schema.maxLength === "number" && length > schema.maxLength) return { fault: { word: "long", values: { count: schema.maxLength } } };
  if (typeof schema.pattern === "string" && !matches(schema.pattern, typed)) return { fault: { word: "pattern", values: { pattern: schema.pattern } } };
  return { value: typed };
}

/** Whether a text is of a pattern; one that the browser cannot read is left to the service. */
function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return true;
  }
}

/** What the service says is wrong, by the field that it names: "…: /age: 200 is more than …; /home: …". */
export function faultsIn(detail: string, fields: readonly FormField[]): ReadonlyMap<string, FieldFault> {
  const known = new Set(leaves(fields).map((each) => each.pointer));
  const found = new Map<string, FieldFault>();
  for (const [, pointer = "", message = ""] of detail.matchAll(/(?:: |; )(\/[^\s:]+): (.+?)(?=; |$)/g)) {
    const place = [...known].find((each) => pointer === each || pointer.startsWith(`${each}/`));
    if (place !== undefined && !found.has(place)) found.set(place, { word: "told", values: { message } });
  }
  return found;
}
