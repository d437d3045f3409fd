/** What can go wrong with a request, and what that means for who made it. */

/** What exactly is wrong, by its code; a code of "" says no more than the problem's own. */
export interface Reason {
  code: string;
  values: Readonly<Record<string, string | number>>;
}

const NO_REASON: Reason = { code: "", values: {} };

/** What the service sends of a problem, in an answer or as an event. */
export interface ToldProblem {
  status?: number;
  code?: string;
  title?: string;
  detail?: unknown;
  reason_code?: string;
  values?: Record<string, string | number>;
  facts?: Record<string, string | number>;
}

/** A problem as it was told; of one without a reason, its facts say what is wrong. */
export function problemIn(told: ToldProblem, status: number, title: string): Problem {
  const reason = told.reason_code ? { code: told.reason_code, values: told.values ?? {} } : told.facts ? { code: told.code ?? "", values: told.facts } : undefined;
  return new Problem(status, told.code ?? "", told.title ?? title, typeof told.detail === "string" ? told.detail : "", reason);
}

/** What went wrong, as the service tells it (RFC 9457); status 0 where no whole answer came. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly title: string,
    readonly detail: string,
    /** What exactly is wrong, and the values that it names. */
    readonly reason: Reason = NO_REASON,
    /** Where that is to be looked at which stands in the way. */
    readonly href = "",
  ) {
    super(detail || title || code);
  }
}

/** No answer came: the service may not have got the request, or may have carried it out. */
export const unreachable = (): Problem => new Problem(0, "unreachable", "", "");
/** An answer began, and broke off. */
export const cut = (): Problem => new Problem(0, "cut", "", "");
/** An answer came that is none of the service's: something stands between. */
export const garbled = (status: number): Problem => new Problem(status, "garbled", "", "");

const TRIED_LATER: ReadonlySet<number> = new Set([0, 408, 425, 429]);

/** Whether the same request can go well a moment later. */
export function canPass(error: unknown): boolean {
  return !(error instanceof Problem) || TRIED_LATER.has(error.status) || error.status >= 500 || error.code === "garbled";
}

/** Whether the request may have been carried out all the same. */
export function mayBeDone(error: unknown): boolean {
  return !(error instanceof Problem) || error.status === 0 || error.status === 408 || error.status >= 500 || error.code === "garbled";
}

export const isGone = (error: unknown): boolean => error instanceof Problem && error.status === 404;
export const isConflict = (error: unknown): boolean => error instanceof Problem && (error.status === 409 || error.status === 412);
