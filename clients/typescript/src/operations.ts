import type { CallOptions } from "./requests.js";
import type { paths } from "./schema.js";

export type Verb = "get" | "put" | "post" | "delete";

/** The routes that know a verb. */
export type Route<V extends Verb> = {
  [P in keyof paths]: paths[P][V] extends { responses: unknown } ? P : never;
}[keyof paths];

type Operation<V extends Verb, P extends Route<V>> = NonNullable<paths[P][V]>;
type Parameters<O> = O extends { parameters: infer Found } ? Found : never;
type Content<R> = R extends { content: { "application/json": infer Found } } ? Found : undefined;
type Responses<O> = O extends { responses: infer Found } ? Found : never;
type Success<R> = R[keyof R & (200 | 201 | 204)];

/** What an operation answers. */
export type Answer<V extends Verb, P extends Route<V>> = Content<Success<Responses<Operation<V, P>>>>;

/** The query of an operation, but for its scope. */
export type Query<V extends Verb, P extends Route<V>> =
  Parameters<Operation<V, P>> extends { query?: infer Found } ? Omit<NonNullable<Found>, "scope"> : never;

/** The JSON body of an operation. */
export type Body<V extends Verb, P extends Route<V>> =
  Operation<V, P> extends { requestBody?: { content: { "application/json": infer Found } } } ? Found : undefined;

type PathParameters<V extends Verb, P extends Route<V>> =
  Parameters<Operation<V, P>> extends { path: infer Found } ? { params: Found } : { params?: never };
type BodyPart<V extends Verb, P extends Route<V>> = undefined extends Body<V, P>
  ? { body?: Body<V, P> }
  : null extends Body<V, P>
    ? { body?: Body<V, P> }
    : { body: Body<V, P> };

/** A place below that of the key, a segment each; a text is one segment. */
export type Scope = string | readonly string[];

export interface WriteOptions extends CallOptions {
  /** The name of this request: made again under it, it is carried out once. Made up if left out. */
  idempotency_key?: string;
}

/** What a request to a route consists of. */
export type RequestParts<V extends Verb, P extends Route<V>> = WriteOptions & {
  scope?: Scope;
  query?: Query<V, P>;
  /** The version that was read; 0: there is none yet. */
  expected?: number;
} & PathParameters<V, P> &
  BodyPart<V, P>;

/** What may stand beside the fields of a change of one memory. */
export interface ChangeOptions extends WriteOptions {
  /** The version that was read; 0: there is none yet. Another one is refused (`version_conflict`). */
  expected?: number;
  /** Whether the answer has a token for `undo`. */
  undo?: boolean;
}
