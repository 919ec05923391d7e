import { createHash, timingSafeEqual } from "node:crypto";
import { chmod, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { errorBody, fail, isThinkeryError, statusOf } from "@thinkery/sdk";

/** One thing that can be asked for on a unix socket of the host. */
export interface Route {
  method: "GET" | "POST";
  path: string;
  /** Without one, anybody who can open the socket may ask. */
  allow?(headers: IncomingMessage["headers"]): boolean;
  answer(question: Question): Answer | Promise<Answer>;
}

interface Question {
  query: URLSearchParams;
  body: Buffer;
}

interface Answer {
  status?: number;
  body: unknown;
  /** Runs when the answer is on its way. */
  after?(): void;
}

interface Served {
  close(): Promise<void>;
}

const maxBody = 1024 * 1024;

/** Serves a table of routes on a unix socket that only this user can open. */
export async function serve(socketPath: string, routes: Route[]): Promise<Served> {
  // Whoever left it there is gone: we hold the home's lock.
  await rm(socketPath, { force: true });
  const server = createServer((request, response) => void reply(routes, request, response));
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
export function sameSecret(given: unknown, right: string): boolean {
  const digest = (value: string) => createHash("sha256").update(value).digest();
  return typeof given === "string" && timingSafeEqual(digest(given), digest(right));
}

async function reply(routes: Route[], request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const url = new URL(request.url ?? "/", "http://host");
    const found = routes.filter(({ path }) => path === url.pathname);
    const route = found.find(({ method }) => method === request.method);
    // A door that is closed to everybody without a key does not tell what is behind it.
    const closed = (route ? [route] : routes).every(({ allow }) => allow && !allow(request.headers));
    if (closed) throw fail("forbidden", "This socket is for Thinkery's own processes.");
    if (!route && found.length > 0) throw fail("method_not_allowed", "This service is not asked that way.");
    if (!route) throw fail("not_found", "There is no such service.");
    const { status = 200, body, after } = await route.answer({ query: url.searchParams, body: await read(request) });
    if (after) response.once("close", after);
    send(response, status, body);
  } catch (error) {
    const known = isThinkeryError(error) ? error : fail("internal", "The host could not answer; its log may say why.");
    // What was not read must not be taken for the next request.
    response.shouldKeepAlive = false;
    send(response, statusOf(known.code), errorBody(known));
  }
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBody) throw fail("too_large", "The request is too large.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function send(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent) return;
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
