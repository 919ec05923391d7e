import { createHash, timingSafeEqual } from "node:crypto";
import { chmod, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { toErrorBody, fail, isThinkeryError, toHttpStatus } from "@thinkery/sdk";

/** One thing that can be asked for on a unix socket of the host. */
export interface Route {
  method: "GET" | "POST";
  path: string;
  /** How long a body it takes, where that is more than usual. */
  maxBodyBytes?: number;
  /** Without one, anybody who can open the socket may ask. */
  isAllowed?(headers: IncomingMessage["headers"]): boolean;
  handle(question: RouteRequest): RouteResponse | Promise<RouteResponse | LineResponse | ByteResponse>;
}

interface RouteRequest {
  query: URLSearchParams;
  body: Buffer;
}

interface RouteResponse {
  status?: number;
  body: unknown;
  /** Runs when the answer is on its way. */
  after?(): void;
}

/** An answer that is told as it comes about, a JSON value a line. */
interface LineResponse {
  lines(to: LineWriter): Promise<void>;
}

/** An answer of bytes, sent as they are made and not faster than they are taken. */
interface ByteResponse {
  pieces: AsyncIterable<Uint8Array>;
}

interface LineWriter {
  write(value: unknown): void;
  /** False while what was written last is still on its way. */
  hasRoom(): boolean;
  /** Fires when nobody listens any more. */
  signal: AbortSignal;
}

interface UnixServer {
  close(): Promise<void>;
}

const defaultMaxBodyBytes = 1024 * 1024;

/** Serves a table of routes on a unix socket that only this user can open. */
export async function serveRoutes(socketPath: string, routes: Route[]): Promise<UnixServer> {
  // Whoever left it there is gone: we hold the home's lock.
  await rm(socketPath, { force: true });
  const server = createServer((request, response) => void handleRequest(routes, request, response));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socketPath, resolve);
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

/** Compares without telling, by the time it takes, how much was right. */
export function isSameSecret(given: unknown, right: string): boolean {
  const digest = (value: string) => createHash("sha256").update(value).digest();
  return typeof given === "string" && timingSafeEqual(digest(given), digest(right));
}

async function handleRequest(routes: Route[], request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const url = new URL(request.url ?? "/", "http://host");
    const found = routes.filter(({ path }) => path === url.pathname);
    const route = found.find(({ method }) => method === request.method);
    // A door that is closed to everybody without a key does not tell what is behind it.
    const closed = (route ? [route] : routes).every(({ isAllowed }) => isAllowed && !isAllowed(request.headers));
    if (closed) throw fail("forbidden", "This socket is for Thinkery's own processes.");
    if (!route && found.length > 0) throw fail("method_not_allowed", "This service is not asked that way.");
    if (!route) throw fail("not_found", "There is no such service.");
    const answer = await route.handle({ query: url.searchParams, body: await readBody(request, route.maxBodyBytes) });
    if ("lines" in answer) return await sendLines(response, answer);
    if ("pieces" in answer) return await pipeline(Readable.from(answer.pieces), response);
    const { status = 200, body, after } = answer;
    if (after) response.once("close", after);
    sendJson(response, status, body);
  } catch (error) {
    const known = isThinkeryError(error) ? error : fail("internal", "The host could not answer; its log may say why.");
    // What was not read must not be taken for the next request.
    response.shouldKeepAlive = false;
    sendJson(response, toHttpStatus(known.code), toErrorBody(known));
  }
}

// The answer begins with its first line: what goes wrong before that is answered like everything else.
async function sendLines(response: ServerResponse, { lines }: LineResponse): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  response.on("error", () => {});
  await lines({
    write(value) {
      if (!response.headersSent) response.writeHead(200, { "content-type": "application/x-ndjson" });
      response.write(`${JSON.stringify(value)}\n`);
    },
    hasRoom: () => !response.writableNeedDrain,
    signal: gone.signal,
  });
  response.end();
}

async function readBody(request: IncomingMessage, longest = defaultMaxBodyBytes): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > longest) throw fail("too_large", "The request is too large.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent) {
    // Whoever reads half an answer must not take it for the whole.
    response.destroy();
    return;
  }
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
