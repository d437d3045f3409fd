/** Where something stands in JSON that a person types: the line of a fault, the line of a pointer. */

import { stepsOf } from "./pointer";

export interface Fault {
  line: number;
  message: string;
}

/** The first syntax fault, or none. */
export function faultOf(text: string): Fault | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const line = /line (\d+)/.exec(message);
    const position = /position (\d+)/.exec(message);
    if (line) return { line: Number(line[1]), message };
    const end = position ? Number(position[1]) : text.trimEnd().length;
    return { line: text.slice(0, end).split("\n").length, message };
  }
}

/** The first syntax fault of what has to be an object, or that it is none, in the words given. */
export function objectFaultOf(text: string, noObject: string): Fault | null {
  const fault = faultOf(text);
  if (fault) return fault;
  const value: unknown = JSON.parse(text);
  return value !== null && typeof value === "object" && !Array.isArray(value) ? null : { line: 1, message: noObject };
}

/** The names and places on the way to a value: of a pointer (`/0/name`) or as written (`types[0].name`). */
export function wayOf(path: string): string[] {
  if (path === "" || path.startsWith("/")) return stepsOf(path);
  const steps = [...path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)].map((each) => each[1] ?? each[2] ?? "");
  return steps[0] === "types" ? steps.slice(1) : steps;
}

/** The line where a value begins, or the nearest value around it that is there; none in no JSON. */
export function lineOf(text: string, path: string): number | null {
  const wanted = wayOf(path);
  let best = -1;
  let depth = -1;
  try {
    walk(text, (way, at) => {
      if (way.length > depth && way.every((step, place) => step === wanted[place])) [best, depth] = [at, way.length];
    });
  } catch {
    return null;
  }
  return best < 0 ? null : text.slice(0, best).split("\n").length;
}

/** Tell of each value of sound JSON where it begins: that of a name where the name stands. */
function walk(text: string, tell: (way: readonly string[], at: number) => void): void {
  const tokens = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g;
  const way: (string | number)[] = [];
  const seen = (at: number) => tell(way.map(String), at);
  const next = (): RegExpExecArray => {
    const token = tokens.exec(text);
    if (!token) throw new Error("the text ends early");
    return token;
  };
  const value = (token: RegExpExecArray, at: number): void => {
    seen(at);
    if (token[0] === "{") members();
    else if (token[0] === "[") elements();
  };
  const members = (): void => {
    for (let token = next(); token[0] !== "}"; token = next()) {
      if (token[0] === ",") continue;
      way.push(JSON.parse(token[0]) as string);
      next();
      value(next(), token.index);
      way.pop();
    }
  };
  const elements = (): void => {
    let place = 0;
    for (let token = next(); token[0] !== "]"; token = next()) {
      if (token[0] === ",") continue;
      way.push(place++);
      value(token, token.index);
      way.pop();
    }
  };
  const first = next();
  value(first, first.index);
}
