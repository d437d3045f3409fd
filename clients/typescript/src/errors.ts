import type { FieldProblem, Problem } from "./schema.js";

/** A fault, from the service's problem document, or of the client itself (`status` 0). */
export class RecollectError extends Error {
  override readonly name = "RecollectError";
  /** The HTTP status; 0 if the service gave no answer. */
  readonly status: number;
  /** Stable, as `docs/errors.md` lists them; `unavailable` and `timeout` also without an answer. */
  readonly code: string;
  /** The request in the service's log. */
  readonly requestId: string | null;
  /** The data of the error, such as `retry_after_s` or `actual`. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** What is wrong with each field of the request. */
  readonly errors: readonly FieldProblem[];

  constructor(problem: Partial<Problem>, requestId: string | null = null, cause?: unknown) {
    super(problem.detail ?? `the service answered with status ${problem.status}`, { cause });
    this.status = problem.status ?? 0;
    this.code = problem.code ?? ([502, 503, 504].includes(this.status) ? "unavailable" : "error");
    this.requestId = requestId;
    this.facts = problem.facts ?? {};
    this.errors = problem.errors ?? [];
  }
}

/** Return the error of a response that is not a success; a proxy's page has a status alone. */
export function errorOf(response: Response, text: string): RecollectError {
  const isProblem = response.headers.get("content-type")?.includes("json") ?? false;
  const told = isProblem ? (parsed(text) as Partial<Problem> | null) : null;
  return new RecollectError({ ...told, status: response.status }, requestIdOf(response));
}

/** Return a successful answer; `undefined` if it has no body. */
export function answerOf(response: Response, text: string): unknown {
  const found = text === "" ? undefined : parsed(text);
  if (found !== null) return found;
  const detail = "the answer is not JSON: is this the address of a Recollect service?";
  throw new RecollectError({ status: response.status, detail }, requestIdOf(response));
}

function requestIdOf(response: Response): string | null {
  return response.headers.get("x-request-id");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
