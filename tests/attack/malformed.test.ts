import http from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { type Random, createRandom } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { send, sendBytes } from "../kit/wire.ts";
import { findLeak } from "./find-leak.ts";

// Random malformed requests and raw bytes. See invalid-requests.test.ts for specific invalid inputs.

let host: HostProcess;
const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });

beforeAll(async () => {
  host = await startHostProcess();
  for (const name of ["alice", "bob"])
    await host.client.call("createAgent", { params: { agency: "global" }, body: { name } });
});

afterAll(async () => {
  agent.destroy();
  await host?.stop();
});

const paths = [
  "/health",
  "/agents",
  "/agents/alice",
  "/agencies",
  "/agencies/x",
  "/agency/global/agents",
  "/agency/global/blueprints",
  "/agency/global/blueprints/think",
  "/agency/global/agent/alice",
  "/tokens",
  "/tokens/owner.123",
  "/login",
  "/login/codes",
  "/logout",
  "/who",
  "/openapi.json",
  "/agents/think/global~alice",
  "/agents/agency/global",
  "/agents/user/owner",
  "/agents/think/global~alice/sub/think/x",
  "/assets/x.js",
  "/app/x",
  "/favicon.svg",
  "/run",
  "/serve",
  "/providers",
  "/models",
  ...[
    "invoke",
    "cancel",
    "state",
    "events",
    "messages",
    "actions",
    "usage",
    "export",
    "blobs",
    `blobs/${"0".repeat(64)}`,
    "ws",
    "app/x",
    "processes",
    "processes/0badcafe",
    "files",
    "files/a",
    "files/a/b.txt",
    "archive",
    "versions",
    "versions/1",
    "revert",
    "branches",
    "branches/try",
    "branches/try/merge",
    "yjs",
    "hooks",
    "hooks/deploys",
  ].map((rest) => `/agents/bob/${rest}`),
];

const segments = [
  "..",
  ".",
  "%2e%2e",
  "%2f",
  "%00",
  "%",
  "%zz",
  "%c0%ae",
  "%e2%80%ae",
  "a%20b",
  "think",
  "sub",
  "Think",
  "а",
  "ａlice",
  "~",
  "a~b~c",
  "__proto__",
  "constructor",
  "toString",
  ";",
  "?",
  "#",
  "\\",
  "//",
  "a".repeat(300),
  "global~",
  "~alice",
  "%7e",
  "{}",
  "$",
  "'",
  '"',
];

const values: unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  "",
  "x",
  "\u0000",
  "../x",
  "a/b",
  "think",
  "sub",
  "ａlice",
  "\ud800",
  "a".repeat(5000),
  [],
  [[]],
  {},
  { a: 1 },
  { __proto__: 1 },
  ["x", 1],
  { toString: "x" },
  { constructor: { prototype: {} } },
];

const keys = [
  "name",
  "id",
  "blueprint",
  "agentType",
  "model",
  "backend",
  "system",
  "props",
  "prompt",
  "tags",
  "config",
  "driver",
  "scopes",
  "user",
  "code",
  "expiresInSeconds",
  "message",
  "messages",
  "files",
  "attachments",
  "idempotencyKey",
  "mode",
  "agent",
  "agents",
  "workflow",
  "tag",
  "runId",
  "edits",
  "base",
  "version",
  "turn",
  "toolCall",
  "branch",
  "dryRun",
  "into",
  "from",
  "zzz",
  "__proto__",
  "constructor",
  "",
];

const headerNames = [
  "x-agents-lifecycle-props",
  "x-secret",
  "cookie",
  "origin",
  "content-length",
  "transfer-encoding",
  "upgrade",
  "connection",
  "expect",
  "range",
  "accept",
  "if-match",
  "if-none-match",
  "content-encoding",
  "x-forwarded-host",
  "sec-websocket-protocol",
];

function createPath(chance: Random, base: string): string {
  const extra = Array.from({ length: chance.below(4) }, () =>
    chance.pick(segments).replace(/[^\x21-\x7e]/g, encodeURIComponent),
  );
  const query = chance.chance(0.3)
    ? `?${chance.pick(["limit", "after", "before", "since", "success", "only", "user", "branch", "version", "under", "path", "recursive", "replace", "__agents_transport", "_pk", "x"])}=${encodeURIComponent((JSON.stringify(chance.pick(values)) ?? "").toWellFormed())}`
    : "";
  return `${base}${extra.length ? `/${extra.join("/")}` : ""}${query}`;
}

const bodyKinds = [0, 1, 2, 3, 4, 5, 6, 7, 8] as const;

function createBody(chance: Random, kind: (typeof bodyKinds)[number]): string | Buffer | undefined {
  const object = () =>
    Object.fromEntries(Array.from({ length: chance.below(5) }, () => [chance.pick(keys), chance.pick(values)]));
  switch (kind) {
    case 0:
      return undefined;
    case 1:
      return chance.text(chance.below(200));
    case 2:
      return JSON.stringify(object()).slice(0, -1 - chance.below(3));
    case 3:
      return `${"[".repeat(chance.below(3000))}${"]".repeat(chance.below(3000))}`;
    case 4:
      return `{"name":"a","props":${'{"a":'.repeat(2000)}1${"}".repeat(2000)}}`;
    case 5:
      return Buffer.from(Array.from({ length: chance.below(100) }, () => chance.below(256)));
    case 6:
      return JSON.stringify(chance.pick(values));
    case 7:
      return chance.chance(0.01) ? "x".repeat(1_200_000) : "{}";
    default:
      return JSON.stringify(object());
  }
}

function createHeaders(chance: Random): Record<string, string> {
  const headers: Record<string, string> = {};
  if (chance.chance(0.9))
    headers.authorization = `Bearer ${chance.chance(0.9) ? host.token : chance.text(40, "abc._-")}`;
  if (chance.chance(0.8))
    headers["content-type"] = chance.pick([
      "application/json",
      "application/json; charset=utf-8",
      "text/plain",
      "multipart/form-data",
    ]);
  // Wrong lengths and transfer codings are in the raw test below; Node does not send them.
  if (chance.chance(0.2)) {
    const name = chance.pick(
      headerNames.filter(
        (header) => !["content-length", "transfer-encoding", "connection", "upgrade", "expect"].includes(header),
      ),
    );
    headers[name] = chance.text(1 + chance.below(60), "abcdefghijklmnop0123456789-_.=/:; ").trim() || "x";
  }
  return headers;
}

const requestCount = getRepeatCount("malformed requests", { sample: 3_000, full: 20_000 });
const methods = ["GET", "POST", "POST", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE", "PROPFIND"];

test(`${requestCount} malformed requests get no 5xx, stack trace or path of the machine`, async () => {
  const chance = createRandom("malformed");
  const failures: unknown[] = [];
  const [nextMethod, nextBase, nextBody] = [chance.deck(methods), chance.deck(paths), chance.deck(bodyKinds)];
  let remaining = requestCount;
  const worker = async () => {
    while (remaining-- > 0 && failures.length < 5) {
      const request = {
        method: nextMethod(),
        path: createPath(chance, nextBase()),
        headers: createHeaders(chance),
        body: createBody(chance, nextBody()),
      };
      const response = await send({
        port: host.port,
        agent,
        ...request,
        ...(request.body === undefined ? {} : { body: request.body }),
      }).catch((error: NodeJS.ErrnoException) =>
        // Rejecting a body in mid-upload closes the connection, which counts as a response.
        ["EPIPE", "ECONNRESET"].includes(error.code ?? "")
          ? { status: 413, body: "" }
          : { status: 599, body: error.message },
      );
      if (response.status >= 500 || findLeak(response.body, host))
        failures.push({
          ...request,
          body: String(request.body).slice(0, 200),
          status: response.status,
          response: response.body.slice(0, 400),
          leak: findLeak(response.body, host),
        });
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  expect(failures).toEqual([]);
  expect((await host.client.call("health")).restarts).toBe(0);
}, 180_000);

test("bytes that are not HTTP get no 5xx or stack trace", async () => {
  const chance = createRandom("bytes");
  const lines = [
    "GET / HTTP/1.1",
    "GET /health HTTP/9.9",
    "G\u0000T / HTTP/1.1",
    "GET http://evil.example/ HTTP/1.1",
    "POST /agents HTTP/1.1",
    "CONNECT 127.0.0.1:22 HTTP/1.1",
    undefined,
    "",
  ];
  const nextLine = chance.deck(lines);
  const nextHeader = chance.deck([
    `Host: 127.0.0.1:${host.port}`,
    "Host: evil.example",
    "Content-Length: -1",
    "Content-Length: 99999999999999999999",
    "Content-Length: 5\r\nContent-Length: 6",
    "Transfer-Encoding: chunked",
    "Transfer-Encoding: chunked, identity",
    ": x",
    "a".repeat(20_000),
    `Authorization: Bearer ${host.token}`,
    "Content-Type: application/json",
    "Upgrade: websocket\r\nConnection: Upgrade",
  ]);
  for (let round = 0; round < getRepeatCount("raw requests", { sample: 100, full: 500 }); round++) {
    const head = [nextLine() ?? chance.text(60), ...Array.from({ length: chance.below(6) }, nextHeader)].join("\r\n");
    const sent = Buffer.from(`${head}\r\n\r\n${chance.text(chance.below(50))}`, "latin1");
    const response = await sendBytes(host.port, sent);
    const status = Number(/^HTTP\/1\.1 (\d+)/.exec(response)?.[1] ?? 0);
    // workerd itself rejects an unknown method (501) and CONNECT (500), before our code.
    const isFromWorkerd = status === 501 || (status === 500 && head.startsWith("CONNECT "));
    expect({ head, status: status >= 500 && !isFromWorkerd ? status : "fine", leak: findLeak(response, host) }).toEqual(
      {
        head,
        status: "fine",
        leak: undefined,
      },
    );
  }
  expect((await host.client.call("health")).restarts).toBe(0);
}, 120_000);

test("a body with invalid chunked encoding is a bad request, not a busy host", async () => {
  const head = [
    "POST /agents HTTP/1.1",
    `Host: 127.0.0.1:${host.port}`,
    `Authorization: Bearer ${host.token}`,
    "Content-Type: application/json",
    "Transfer-Encoding: chunked",
  ].join("\r\n");
  expect(await sendBytes(host.port, Buffer.from(`${head}\r\n\r\nthis is not a chunk`))).toMatch(/^HTTP\/1\.1 400 /);
});
