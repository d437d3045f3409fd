import { answerOf, errorOf, RecollectError } from "./errors.js";

export interface ClientOptions {
  /** The address of the service, such as `https://memory.example.org`. */
  url: string;
  /** An API key, if the service requires one. */
  key?: string;
  /** In place of the global `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** The limit of each attempt; of a stream, until it begins. Default 60,000. */
  timeoutMs?: number;
  /** Maximum retries of a request. Default 3. */
  retries?: number;
}

export interface CallOptions {
  /** Cancels the call, which then fails with the signal's reason. */
  signal?: AbortSignal;
  /** In place of that of the client; `Infinity` for none. */
  timeoutMs?: number;
}

export interface ServiceRequest extends CallOptions {
  method: string;
  path: string;
  query: readonly (readonly [string, unknown])[];
  headers: Record<string, string>;
  body?: string;
  /** Whether the request is idempotent. */
  isRepeatable: boolean;
}

const FIRST_PAUSE_MS = 200;
/** Do not retry if the service asks for a longer delay. */
const PAUSE_MS_MAX = 30_000;

/** Sends requests to one service, with retries where they are safe. */
export class Requests {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #options: Required<Omit<ClientOptions, "url" | "key">>;

  constructor({ url, key = "", fetch, timeoutMs = 60_000, retries = 3 }: ClientOptions = {} as ClientOptions) {
    if (!/^https?:\/\//i.test(url)) {
      throw usage(`url is '${url}', no address of a service: give { url: "http://127.0.0.1:8300", key: "rk_..." }`);
    }
    if (/\/compat\/mem0\/*$/.test(url)) throw usage(`${url} is for mem0's client: give the address without /compat/mem0`);
    if (!/^[!-~]*$/.test(key)) throw usage("the key has an invalid character: give it as it was printed");
    this.#url = url.replace(/\/+$/, "");
    this.#headers = key ? { "x-api-key": key } : {};
    this.#options = { fetch: fetch ?? globalThis.fetch.bind(globalThis), timeoutMs, retries };
  }

  /** Return the answer as JSON; `undefined` for 204. */
  json(request: ServiceRequest): Promise<unknown> {
    return this.#repeat(request, async (response) => answerOf(response, await response.text()));
  }

  /** Yield the lines of a streamed response as they arrive; once it has begun, it is not retried. */
  async *lines(request: ServiceRequest): AsyncGenerator<string, void, undefined> {
    const { signal } = request;
    const body = await this.#repeat(request, async (response) => response.body);
    const reader = (body ?? new Blob([]).stream()).getReader();
    const stop = () => void reader.cancel().catch(() => undefined);
    signal?.addEventListener("abort", stop, { once: true });
    try {
      signal?.throwIfAborted();
      yield* linesOf(reader);
      signal?.throwIfAborted();
    } catch (error) {
      signal?.throwIfAborted();
      throw new RecollectError({ code: "unavailable", detail: "the stream was cut off" }, null, error);
    } finally {
      signal?.removeEventListener("abort", stop);
      stop(); // also when the reader breaks off: it gives the connection back
    }
  }

  async #repeat<T>(request: ServiceRequest, read: (response: Response) => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      const isLast = attempt >= this.#options.retries || !request.isRepeatable;
      const found = await this.#attempt(request, read);
      if (!(found instanceof Failure)) return found;
      const waitMs = found.waitMs ?? FIRST_PAUSE_MS * 2 ** attempt * (0.5 + Math.random() / 2);
      if (isLast || waitMs > PAUSE_MS_MAX) throw found.error;
      await pause(waitMs, request.signal);
    }
  }

  /** Return the result of one attempt, or a failure after which another may help. */
  async #attempt<T>(request: ServiceRequest, read: (response: Response) => Promise<T>): Promise<T | Failure> {
    const { signal, timeoutMs = this.#options.timeoutMs } = request;
    signal?.throwIfAborted();
    const stopping = new AbortController();
    const stop = () => stopping.abort(signal?.reason);
    signal?.addEventListener("abort", stop, { once: true });
    const timer = Number.isFinite(timeoutMs) ? setTimeout(() => stopping.abort(), timeoutMs) : undefined;
    try {
      const response = await this.#options.fetch(this.#addressOf(request), {
        method: request.method,
        headers: { ...this.#headers, ...request.headers },
        body: request.body,
        signal: stopping.signal,
        redirect: "manual", // another host must not see the key
      });
      if (response.ok) return await read(response);
      const error = errorOf(response, await response.text(), `${request.method} ${request.path}`);
      if (response.status !== 429 && response.status !== 503) throw error;
      return new Failure(error, retryAfterMs(response));
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof RecollectError) throw error;
      return new Failure(away(request, this.#url, stopping.signal.aborted ? timeoutMs : undefined, error));
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    }
  }

  #addressOf({ path, query }: ServiceRequest): string {
    const written = query.flatMap(([name, value]) =>
      value === undefined || value === null ? [] : [[name, String(value)]],
    );
    return `${this.#url}${path}${written.length ? `?${new URLSearchParams(written)}` : ""}`;
  }
}

class Failure {
  constructor(
    readonly error: RecollectError,
    readonly waitMs?: number,
  ) {}
}

export function usage(detail: string): RecollectError {
  return new RecollectError({ code: "usage", detail });
}

function away(request: ServiceRequest, url: string, timeoutMs: number | undefined, cause: unknown): RecollectError {
  const why = timeoutMs === undefined ? `the service at ${url} cannot be reached` : `no answer came within ${timeoutMs} ms`;
  const told = request.isRepeatable ? "" : "; the request may have been carried out";
  return new RecollectError(
    { code: timeoutMs === undefined ? "unavailable" : "timeout", detail: why + told },
    null,
    cause,
  );
}

async function* linesOf(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const found = (rest + decoder.decode(part.value, { stream: true })).split("\n");
    rest = found.pop() ?? "";
    yield* found;
  }
  if (rest) yield rest;
}

function retryAfterMs(response: Response): number | undefined {
  const asked = response.headers.get("retry-after") ?? "";
  return /^\d+$/.test(asked) ? Number(asked) * 1000 : undefined;
}

/** Wait before another attempt. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
