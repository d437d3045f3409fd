/** A way to the service that fails as a story says: between the browser and the service, as a bad network does. */

import { createServer, request as send } from "node:http";

/**
 * Listen on a port of its own, and pass everything on to `base`.
 *
 * `proxy.rule(request)` may name what happens to a request instead:
 * - `{ slow_ms }`: it is passed on so much later;
 * - `{ refuse: true }`: the connection ends before the service hears of it, maybe `after_ms`;
 * - `{ lose: true }`: the service does it, and the connection ends before its answer;
 * - `{ cut: bytes }`: the answer ends after so many bytes, and the connection with it;
 * - `{ status, body, type }`: an answer that is not the service's.
 *
 * With `isKept` false the browser keeps no file for the next time. `proxy.drop(path)` ends what is being answered there.
 */
export async function openProxy(base) {
  const proxy = { address: "", rule: () => undefined, seen: [], isKept: true, drop: () => undefined, close: () => undefined };
  const sockets = new Set();
  const answered = new Set();
  const server = createServer((request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("error", () => undefined);
    request.on("end", () => {
      const { method, url, headers } = request;
      const rule = proxy.rule({ method, url, headers }) ?? {};
      proxy.seen.push({ method, url, key: headers["idempotency-key"], rule: Object.keys(rule)[0] });
      if (rule.refuse) return setTimeout(() => request.socket.destroy(), rule.after_ms ?? 0);
      if (rule.status) {
        response.writeHead(rule.status, { "content-type": rule.type ?? "application/json" });
        return response.end(rule.body ?? "");
      }
      answered.add(request);
      response.on("close", () => answered.delete(request));
      const passOn = () => pass(base, request, Buffer.concat(parts), response, { ...rule, isKept: proxy.isKept });
      if (rule.slow_ms) setTimeout(passOn, rule.slow_ms);
      else passOn();
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  proxy.address = `http://127.0.0.1:${server.address().port}`;
  proxy.drop = (path) => {
    for (const request of answered) if (request.url.startsWith(path)) request.socket.destroy();
  };
  proxy.close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return proxy;
}

function pass(base, request, body, response, rule) {
  const onward = send(new URL(request.url, base), { method: request.method, headers: request.headers }, (answer) => {
    if (rule.lose) {
      answer.resume();
      answer.on("end", () => request.socket.destroy());
      return;
    }
    response.writeHead(answer.statusCode, rule.isKept ? answer.headers : { ...answer.headers, "cache-control": "no-store" });
    if (rule.cut === undefined) return answer.pipe(response);
    let left = rule.cut;
    answer.on("data", (part) => {
      if (left <= 0) return;
      response.write(part.subarray(0, left));
      left -= part.length;
      // The service goes on answering: it does not notice what is lost behind this point.
      if (left <= 0) setTimeout(() => request.socket.destroy(), 50);
    });
  });
  onward.on("error", () => request.socket.destroy());
  if (rule.lose === undefined && rule.cut === undefined) {
    response.on("close", () => onward.destroy());
    // Who asked may have left before a late request was passed on: nobody would end it then, and the story never.
    if (response.destroyed) onward.destroy();
  }
  onward.end(body);
}
