import type { FieldProblem, Problem } from "./schema.js";
import { VERSION } from "./version.js";

const HEADER = "recollect-version";
/** Messages of a service that does not know a field of the body or the query. */
const UNKNOWN = /^(Extra inputs are not permitted|there is no such parameter)/;

/** An error: a problem that the service reports, or one of the client itself (`status` 0). */
export class RecollectError extends Error {
  override readonly name = "RecollectError";
  /** The HTTP status; 0 without a response. */
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
export function errorOf(response: Response, text: string, asked: string): RecollectError {
  const isProblem = response.headers.get("content-type")?.includes("json") ?? false;
  const told = isProblem ? (parsed(text) as Partial<Problem> | null) : null;
  const problem = versionProblem(response, told ?? {}, asked) ?? strangerProblem(response, told) ?? told;
  return new RecollectError({ ...problem, status: response.status }, requestIdOf(response));
}

/** Return the problem if a service of another version lacks the route or a field of a request. */
function versionProblem(response: Response, { code, errors = [] }: Partial<Problem>, asked: string): Partial<Problem> | null {
  const service = response.headers.get(HEADER);
  if (service === null || service === VERSION) return null;
  const facts = { service, client: VERSION };
  const told = (what: string) => ({ code: "service_version", facts, detail: `${what}: ${advice(service)}` });
  if (code === "no_path" || code === "no_method") return told(`the service has no ${asked}`);
  const unknown = errors.filter(({ message }) => UNKNOWN.test(message)).map(({ path }) => path);
  if (code !== "usage" || !unknown.length) return null;
  return told(`the service does not know ${unknown.join(", ")} of ${asked}`);
}

/** Return the problem of a response that another program sent in place of a service. */
function strangerProblem(response: Response, told: Partial<Problem> | null): Partial<Problem> | null {
  if (told?.code || response.headers.has(HEADER) || ![404, 405].includes(response.status)) return null;
  return { code: "usage", detail: "the response is not from a Recollect service: check the client's address, and any proxy before it" };
}

function advice(service: string): string {
  const told = `it is version ${service}, this client ${VERSION}`;
  if (!isOlder(service, VERSION)) return `${told}; upgrade the client`;
  return `${told}; upgrade the service, or install the client of version ${service}`;
}

/** Whether a version is before another, by its numbers. */
function isOlder(one: string, other: string): boolean {
  const [first, second] = [one, other].map((each) => each.split(".").map((part) => parseInt(part, 10) || 0));
  const at = [0, 1, 2].find((place) => (first?.[place] ?? 0) !== (second?.[place] ?? 0));
  return at !== undefined && (first?.[at] ?? 0) < (second?.[at] ?? 0);
}

/** Return the body of a successful response; `undefined` if it has none. */
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
