import http from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import type { ToolContext } from "@thinkery/sdk";
import { Redactor } from "@thinkery/sdk/internal";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../../../../../tests/kit/wait-until.ts";
import { createFetchCapability } from "./fetch.ts";
import type { FetchResponse } from "./fetch/response.ts";

// Uses Node's fetch as the network: only requests and responses are tested here.
const capability = createFetchCapability(
  (url, init) => fetch(url, { ...init, redirect: "manual" } as RequestInit),
  new Redactor([]).redactLog,
);

const mega = 1024 * 1024;
let server: http.Server;
let origin: string;
let aborted: string[] = [];

type Handler = (request: http.IncomingMessage, response: http.ServerResponse, body: Buffer) => void;

const bytes =
  (type: string, body: Uint8Array | string, headers: http.OutgoingHttpHeaders = {}): Handler =>
  (_, response) =>
    void response.writeHead(200, { "content-type": type, ...headers }).end(body);

const routes: Record<string, Handler> = {
  "/text": bytes("text/plain; charset=utf-8", "Grüße"),
  "/marked": bytes("text/csv", "\uFEFFa,b"),
  "/json": bytes("application/problem+json", '{"a":1}'),
  "/latin": bytes("text/plain; charset=iso-8859-1", Uint8Array.of(0x47, 0x72, 0xfc)),
  "/binary": bytes("application/octet-stream", "plain after all"),
  "/unnamed": (_, response) => void response.end("plain after all"),
  "/empty": bytes("text/plain", ""),
  "/nothing": (_, response) => void response.writeHead(204).end(),
  "/packed": bytes("text/plain", gzipSync("unpacked"), { "content-encoding": "gzip" }),
  "/bomb": bytes("text/plain", gzipSync(Buffer.alloc(40 * mega)), { "content-encoding": "gzip" }),
  "/cookie": bytes("text/plain", "x", { "set-cookie": ["a=1", "b=2"], "x-own": "y", "keep-alive": "timeout=5" }),
  "/elsewhere": (_, response) => void response.writeHead(302, { location: "/text" }).end(),
  "/wrong": (_, response) => void response.writeHead(418, "I am a teapot").end("short and stout"),
  "/full": bytes("text/plain", Buffer.alloc(5 * mega, "x"), { "content-length": 5 * mega }),
  "/endless": (_, response) => {
    response.writeHead(200, { "content-type": "text/plain" });
    const more = () => {
      while (response.write(Buffer.alloc(mega / 4, "x")));
      response.once("drain", more);
    };
    more();
  },
  "/silent": () => {},
  "/stuck": (_, response) => void response.writeHead(200, { "content-type": "text/plain" }).write("some"),
  "/broken": (_, response) => {
    response.writeHead(200, { "content-length": 100 }).write("some");
    setImmediate(() => response.destroy());
  },
  "/back": (request, response, body) => {
    const { host: _, connection: __, ...headers } = request.headers;
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ method: request.method, url: request.url, headers, body: body.toString("hex") }));
  },
};

beforeAll(async () => {
  server = http.createServer(async (request, response) => {
    const path = (request.url ?? "").split("?")[0] ?? "";
    response.on("close", () => response.writableFinished || aborted.push(path));
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    routes[path]?.(request, response, Buffer.concat(chunks));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function fetchPath(
  path: string,
  more: object = {},
  signal = new AbortController().signal,
): Promise<FetchResponse> {
  const input = capability.inputSchema.parse({ url: path.startsWith("/") ? origin + path : path, ...more });
  return capability.execute(input, { signal } as ToolContext) as Promise<FetchResponse>;
}

const base64 = (data: Uint8Array | string) => Buffer.from(data).toString("base64");

const bodies: [string, { body?: string; bodyBase64?: string }][] = [
  ["/text", { body: "Grüße" }],
  ["/marked", { body: "\uFEFFa,b" }],
  ["/json", { body: '{"a":1}' }],
  ["/latin", { bodyBase64: base64(Uint8Array.of(0x47, 0x72, 0xfc)) }],
  ["/binary", { bodyBase64: base64("plain after all") }],
  ["/unnamed", { bodyBase64: base64("plain after all") }],
  ["/empty", { body: "" }],
  ["/packed", { body: "unpacked" }],
];

test.each(bodies)("the body of %s is returned unchanged, as text if its type says so", async (path, body) => {
  const { body: text, bodyBase64 } = await fetchPath(path);
  expect({ body: text, bodyBase64 }).toEqual({ body: undefined, bodyBase64: undefined, ...body });
});

test("a response has its status, status text and headers, but no cookies", async () => {
  const response = await fetchPath("/cookie");
  expect(response).toMatchObject({
    method: "GET",
    url: `${origin}/cookie`,
    status: 200,
    statusText: "OK",
    headers: { "content-type": "text/plain", "x-own": "y" },
  });
  expect(Object.keys(response.headers)).not.toContain("set-cookie");
  expect(Object.keys(response.headers)).not.toContain("keep-alive");
  expect(await fetchPath("/wrong")).toMatchObject({
    status: 418,
    statusText: "I am a teapot",
    bodyBase64: base64("short and stout"),
  });
});

test("204 and HEAD responses have no body, and HEAD keeps the content length", async () => {
  for (const response of [await fetchPath("/nothing"), await fetchPath("/full", { method: "HEAD" })]) {
    expect(response.body).toBeUndefined();
    expect(response.bodyBase64).toBeUndefined();
  }
  expect((await fetchPath("/full", { method: "HEAD" })).headers["content-length"]).toBe(String(5 * mega));
});

test("a decoded response has no content-encoding header", async () => {
  const { headers } = await fetchPath("/packed");
  expect(Object.keys(headers)).not.toContain("content-encoding");
  expect(Object.keys(headers)).not.toContain("content-length");
  expect((await fetchPath("/packed", { method: "HEAD" })).headers).toMatchObject({ "content-encoding": "gzip" });
});

test("a redirect is returned, not followed", async () => {
  expect(await fetchPath("/elsewhere")).toMatchObject({ status: 302, headers: { location: "/text" } });
});

test("method, headers and body are sent as given", async () => {
  const headers = { "X-Own": " y ", authorization: "Bearer x", "content-type": "text/x" };
  const back = async (more: object) => JSON.parse((await fetchPath("/back?a=1#b", more)).body ?? "");
  expect(await back({ method: "post", headers, body: "Grüße" })).toMatchObject({
    method: "POST",
    url: "/back?a=1",
    headers: { "x-own": "y", authorization: "Bearer x", "content-type": "text/x" },
    body: Buffer.from("Grüße").toString("hex"),
  });
  expect(await back({ method: "PUT", bodyBase64: base64(Uint8Array.of(0, 255, 128)) })).toMatchObject({
    method: "PUT",
    body: "00ff80",
  });
  expect(await back({ method: "DELETE" })).toMatchObject({ method: "DELETE", body: "" });
  expect((await back({ method: "PATCH", body: "x".repeat(mega) })).body).toHaveLength(2 * mega);
});

test.each(["/endless", "/bomb"])("%s is aborted because it is too large", async (path) => {
  aborted = [];
  await expect(fetchPath(path)).rejects.toMatchObject({
    code: "too_large",
    message: expect.stringMatching(/^The response from 127\.0\.0\.1:\d+ is larger than 5 MB\. Request less/),
  });
  if (path === "/endless") await waitUntil("the connection to end", () => aborted.includes(path));
  expect((await fetchPath("/full")).body).toHaveLength(5 * mega);
});

test.each(["/silent", "/stuck"])("%s is aborted with the call, and its connection is closed", async (path) => {
  aborted = [];
  const controller = new AbortController();
  const requested = new Promise((resolve) => server.once("request", resolve));
  const result = fetchPath(path, {}, controller.signal);
  await requested;
  controller.abort(new Error("Enough."));
  await expect(result).rejects.toThrow("Enough.");
  await waitUntil("the connection to end", () => aborted.includes(path));
});

test("a call times out after 30 seconds", () => {
  expect(capability.timeoutSeconds).toBe(30);
});

test("connection errors name the host", async () => {
  await expect(fetchPath("http://127.0.0.1:1/")).rejects.toThrow(/^127\.0\.0\.1:1 could not be reached\.$/);
  await expect(fetchPath("/broken")).rejects.toThrow(
    /^127\.0\.0\.1:\d+ closed the connection before the response was complete\.$/,
  );
});

const url = "https://x.org/";
const manyHeaders = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`x-${index}`, "1"]));

const invalidRequests: [string, unknown, RegExp][] = [
  ["no URL", {}, /url: expected a URL/],
  ["a relative URL", { url: "x.org" }, /url: expected a URL that starts with http/],
  ["another protocol", { url: "ftp://x.org/" }, /url: .*http/],
  ["no host", { url: "https://" }, /url: .*http/],
  ["a password in the URL", { url: "https://me:secret@x.org/" }, /url: .*must not contain a user or password/],
  ["a user in the URL", { url: "https://me@x.org/" }, /url: .*must not contain a user/],
  ["a long URL", { url: `https://x.org/${"a".repeat(2000)}` }, /url: longer than 2000/],
  ["a URL that becomes long when encoded", { url: `https://x.org/${"é".repeat(1000)}` }, /url: longer than 2000/],
  ["an unsupported method", { url, method: "CONNECT" }, /method: expected one of GET, HEAD/],
  ["a body in a GET request", { url, body: "x" }, /a GET or HEAD request cannot have a body/],
  ["two bodies", { url, method: "POST", body: "x", bodyBase64: "" }, /not both/],
  ["a large body", { url, method: "POST", body: "é".repeat(mega / 2 + 1) }, /body: larger than 1048576 bytes/],
  [
    "a large body in base64",
    { url, method: "POST", bodyBase64: Buffer.alloc(mega + 1).toString("base64") },
    /bodyBase64: larger than 1048576 bytes/,
  ],
  ["a body that is not base64", { url, method: "POST", bodyBase64: "?" }, /bodyBase64: /],
  ["too many headers", { url, headers: manyHeaders }, /headers: more than 64/],
  ["a header twice", { url, headers: { "X-A": "1", "x-a": "2" } }, /headers\.x-a: .*twice/],
  ["a header without a name", { url, headers: { "": "1" } }, /invalid header name/],
  ["a header with a colon in its name", { url, headers: { "a:b": "1" } }, /invalid header name/],
  ["a header with a line break", { url, headers: { a: "1\r\nhost: y" } }, /headers\.a: invalid header value/],
  ["a header with non-Latin-1 characters", { url, headers: { a: "☃" } }, /headers\.a: invalid header value/],
  ["a long header", { url, headers: { a: "x".repeat(9000) } }, /headers\.a: longer/],
  ["a header that is not a string", { url, headers: { a: 1 } }, /headers\.a: /],
  ["an unknown field", { url, redirect: "follow" }, /redirect/],
  ...[
    "Host",
    "cookie",
    "Connection",
    "Content-Length",
    "Transfer-Encoding",
    "proxy-authorization",
    "Sec-Fetch-Site",
    "Origin",
    "X-HTTP-Method-Override",
    "x-forwarded-for",
    "CF-Connecting-IP",
    "Upgrade",
    "x-original-url",
  ].map((name): [string, unknown, RegExp] => [
    `the header ${name}`,
    { url, headers: { [name]: "1" } },
    new RegExp(`headers\\.${name}: this header cannot be set`),
  ]),
];

test.each(invalidRequests)("a request with %s is rejected", (_, input, message) => {
  const { success, error } = capability.inputSchema.safeParse(input);
  expect(success).toBe(false);
  expect(error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ")).toMatch(message);
});

test("a URL is normalized", () => {
  expect(capability.inputSchema.parse({ url: "HTTPS://X.org:443\\a/../b%2e?é#c" })).toMatchObject({
    url: "https://x.org/b%2e?%C3%A9",
    method: "GET",
  });
});

test("the request log has one line per request, without secrets or long values", async () => {
  expect(capability.summarize?.(await fetchPath("/text?page=2"))).toBe(`GET ${origin}/text?page=2 → 200, 7 bytes`);
  expect(capability.summarize?.(await fetchPath("/full?api_key=abc&q=a%20b"))).toBe(
    `GET ${origin}/full?api_key=…&q=a%20b → 200, 5.0 MB`,
  );
  expect(capability.summarize?.(await fetchPath("/latin", { headers: { authorization: "x" } }))).toMatch(
    / → 200, 3 bytes$/,
  );
  expect(capability.summarize?.(await fetchPath(`/wrong?q=${"x".repeat(30)}&sk-${"a".repeat(20)}`))).toBe(
    `GET ${origin}/wrong?q=…&[redacted]= → 418, 15 bytes`,
  );
  const input = {
    url: `${origin}/back?token=abc`,
    method: "POST",
    headers: { authorization: "Bearer secret" },
    body: "secret".repeat(500),
  };
  expect(capability.redactInput?.(capability.inputSchema.parse(input))).toEqual({
    method: "POST",
    url: `${origin}/back?token=…`,
    headers: ["authorization"],
    body: "2.9 KB",
  });
});

test("invalid requests are redacted in the log too", () => {
  expect(
    capability.redactInput?.({ url: "https://me:secret@x.org/a?password=x", method: 5, headers: "secret", body: {} }),
  ).toEqual({ url: "https://x.org/a?password=…" });
  expect(capability.redactInput?.({ url: `nonsense${"x".repeat(1000)}` })).toEqual({
    url: expect.stringMatching(/^nonsensex{292}…$/),
  });
  for (const invalid of [null, "secret", 5, ["secret"], {}]) expect(capability.redactInput?.(invalid)).toEqual({});
});
