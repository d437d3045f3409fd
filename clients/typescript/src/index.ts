export { Recollect } from "./client.js";
export { RecollectError } from "./errors.js";
export type { Answer, Body, ChangeOptions, Query, RequestParts, Route, Scope, Verb, WriteOptions } from "./operations.js";
export type { NewMessageLike } from "./parts.js";
export type { CallOptions, ClientOptions } from "./requests.js";
export type { Change, ChangeEvent, ChatEvent, ChatResult, ExportedRecord } from "./streams.js";
export { VERSION } from "./version.js";
export type * from "./schema.js";
