import { createHash, timingSafeEqual } from "node:crypto";
import { chmod, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { toErrorBody, fail, isThinkeryError, toHttpStatus } from "@thinkery/sdk";

/** A route served on one of the host's unix sockets. */
export interface Route {
  method: "GET" | "POST";
  path: string;
  /** Maximum body size, if different from the default. */
  maxBodyBytes?: number;
  /** If absent, anyone who can open the socket may call the route. */
  isAllowed?(headers: IncomingMessage["headers"]): boolean;
  handle(request: RouteRequest): RouteResponse | Promise<RouteResponse | LineResponse | ByteResponse>;
}

interface RouteRequest {
  query: URLSearchParams;
  body: Buffer;
}

interface RouteResponse {
  status?: number;
  body: unknown;
  /** Runs once the response is sent. */
  after?(): void;
}

/** A streamed response of JSON values, one per line. */
interface LineResponse {
  lines(to: LineWriter): Promise<void>;
}

/** A streamed response of bytes, sent with backpressure. */
interface ByteResponse {
  pieces: AsyncIterable<Uint8Array>;
}

interface LineWriter {
  write(value: unknown): void;
  /** False while earlier writes are still buffered. */
  hasRoom(): boolean;
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
}

interface UnixServer {
  close(): Promise<void>;
}

const defaultMaxBodyBytes = 1024 * 1024;

/** Serves routes on a unix socket that only this user can open. */
export async function serveRoutes(socketPath: string, routes: Route[]): Promise<UnixServer> {
  // A leftover socket file belongs to a dead process, because we hold the home's lock.
  await rm(socketPath, { force: true });
  const server = createServer((request, response) => void handleRequest(routes, request, response));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    listenPrivately(() => server.listen(socketPath, resolve));
  });
  await chmod(socketPath, 0o600);
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Node creates the socket's file before `listen` returns, so nothing else is affected by the umask. */
function listenPrivately(listen: () => void): void {
  const previous = process.umask(0o077);
  try {
    listen();
  } finally {
    process.umask(previous);
  }
}

/** Compares in constant time. */
export function isSameSecret(actual: unknown, expected: string): boolean {
  const digest = (value: string) => createHash("sha256").update(value).digest();
  return typeof actual === "string" && timingSafeEqual(digest(actual), digest(expected));
}

async function handleRequest(routes: Route[], request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const url = new URL(request.url ?? "/", "http://host");
    const matches = routes.filter(({ path }) => path === url.pathname);
    const route = matches.find(({ method }) => method === request.method);
    // If every route needs a key, an unauthenticated caller must not learn which routes exist.
    const isForbidden = (route ? [route] : routes).every(({ isAllowed }) => isAllowed && !isAllowed(request.headers));
    if (isForbidden) throw fail("forbidden", "This socket is for Thinkery's own processes.");
    if (!route && matches.length > 0) throw fail("method_not_allowed", `${url.pathname} does not allow this method.`);
    if (!route) throw fail("not_found", `There is no route ${url.pathname}.`);
    const result = await route.handle({ query: url.searchParams, body: await readBody(request, route.maxBodyBytes) });
    if ("lines" in result) return await sendLines(response, result);
    if ("pieces" in result) return await pipeline(Readable.from(result.pieces), response);
    const { status = 200, body, after } = result;
    if (after) response.once("close", after);
    sendJson(response, status, body);
  } catch (error) {
    const known = isThinkeryError(error) ? error : fail("internal", "The host failed to handle the request.");
    // The unread rest of the body must not be parsed as the next request.
    response.shouldKeepAlive = false;
    sendJson(response, toHttpStatus(known.code), toErrorBody(known));
  }
}

// Headers are sent with the first line, so an earlier error still becomes a normal error response.
async function sendLines(response: ServerResponse, { lines }: LineResponse): Promise<void> {
  const disconnected = new AbortController();
  response.once("close", () => disconnected.abort());
  response.on("error", () => {});
  await lines({
    write(value) {
      if (!response.headersSent) response.writeHead(200, { "content-type": "application/x-ndjson" });
      response.write(`${JSON.stringify(value)}\n`);
    },
    hasRoom: () => !response.writableNeedDrain,
    signal: disconnected.signal,
  });
  response.end();
}

async function readBody(request: IncomingMessage, maxBytes = defaultMaxBodyBytes): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw fail("too_large", `The request body is larger than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent) {
    // A truncated response must not look complete.
    response.destroy();
    return;
  }
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
