import http from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import type { ToolContext } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../../../../../tests/kit/wait-until.ts";
import { createRedactor } from "../../store/redact.ts";
import { createFetchCapability } from "./fetch.ts";
import type { FetchResponse } from "./fetch/response.ts";

// The door to the network is Node's own here: what is tested is what goes through it.
const capability = createFetchCapability(
  (url, init) => fetch(url, { ...init, redirect: "manual" } as RequestInit),
  createRedactor([]),
);

const mega = 1024 * 1024;
let server: http.Server;
let origin: string;
let cut: string[] = [];

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
    response.on("close", () => response.writableFinished || cut.push(path));
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

test.each(bodies)("the body of %s comes as it is, as text where it says that it is text", async (path, body) => {
  const { body: text, bodyBase64 } = await fetchPath(path);
  expect({ body: text, bodyBase64 }).toEqual({ body: undefined, bodyBase64: undefined, ...body });
});

test("an answer has its status, its words and its headers, and no cookies", async () => {
  const answer = await fetchPath("/cookie");
  expect(answer).toMatchObject({
    method: "GET",
    url: `${origin}/cookie`,
    status: 200,
    statusText: "OK",
    headers: { "content-type": "text/plain", "x-own": "y" },
  });
  expect(Object.keys(answer.headers)).not.toContain("set-cookie");
  expect(Object.keys(answer.headers)).not.toContain("keep-alive");
  expect(await fetchPath("/wrong")).toMatchObject({
    status: 418,
    statusText: "I am a teapot",
    bodyBase64: base64("short and stout"),
  });
});

test("where there can be no body there is none, and the head alone says how long it would be", async () => {
  for (const answer of [await fetchPath("/nothing"), await fetchPath("/full", { method: "HEAD" })]) {
    expect(answer.body).toBeUndefined();
    expect(answer.bodyBase64).toBeUndefined();
  }
  expect((await fetchPath("/full", { method: "HEAD" })).headers["content-length"]).toBe(String(5 * mega));
});

test("what was unpacked on its way does not say that it is packed", async () => {
  const { headers } = await fetchPath("/packed");
  expect(Object.keys(headers)).not.toContain("content-encoding");
  expect(Object.keys(headers)).not.toContain("content-length");
  expect((await fetchPath("/packed", { method: "HEAD" })).headers).toMatchObject({ "content-encoding": "gzip" });
});

test("a redirect is an answer, and not followed", async () => {
  expect(await fetchPath("/elsewhere")).toMatchObject({ status: 302, headers: { location: "/text" } });
});

test("method, headers and body arrive as they were given", async () => {
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

test.each(["/endless", "/bomb"])("%s is not read to its end", async (path) => {
  cut = [];
  await expect(fetchPath(path)).rejects.toMatchObject({
    code: "too_large",
    message: expect.stringMatching(/^The answer of 127\.0\.0\.1:\d+ has more than 5 MB\. Ask for less/),
  });
  if (path === "/endless") await waitUntil("the connection to end", () => cut.includes(path));
  expect((await fetchPath("/full")).body).toHaveLength(5 * mega);
});

test.each(["/silent", "/stuck"])("%s is given up when the call is, and its connection ends", async (path) => {
  cut = [];
  const ending = new AbortController();
  const asked = new Promise((resolve) => server.once("request", resolve));
  const going = fetchPath(path, {}, ending.signal);
  await asked;
  ending.abort(new Error("Enough."));
  await expect(going).rejects.toThrow("Enough.");
  await waitUntil("the connection to end", () => cut.includes(path));
});

test("a call has half a minute", () => {
  expect(capability.timeoutSeconds).toBe(30);
});

test("who is not there, or breaks off, is named", async () => {
  await expect(fetchPath("http://127.0.0.1:1/")).rejects.toThrow(/^127\.0\.0\.1:1 cannot be reached from here\.$/);
  await expect(fetchPath("/broken")).rejects.toThrow(/^127\.0\.0\.1:\d+ broke off in its answer\.$/);
});

const url = "https://x.org/";
const manyHeaders = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`x-${index}`, "1"]));

const wrong: [string, unknown, RegExp][] = [
  ["no address", {}, /url: expected an address/],
  ["an address that is none", { url: "x.org" }, /url: expected an address that begins with http/],
  ["another protocol", { url: "ftp://x.org/" }, /url: .*http/],
  ["no host", { url: "https://" }, /url: .*http/],
  ["a password in the address", { url: "https://me:secret@x.org/" }, /url: .*no user and no password/],
  ["a user in the address", { url: "https://me@x.org/" }, /url: .*no user/],
  ["a long address", { url: `https://x.org/${"a".repeat(2000)}` }, /url: longer than 2000/],
  ["an address that becomes long", { url: `https://x.org/${"é".repeat(1000)}` }, /url: longer than 2000/],
  ["another method", { url, method: "CONNECT" }, /method: expected one of GET, HEAD/],
  ["a body to get something", { url, body: "x" }, /a GET or HEAD request has no body/],
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
  ["a header without a name", { url, headers: { "": "1" } }, /cannot be the name/],
  ["a header with a colon in its name", { url, headers: { "a:b": "1" } }, /cannot be the name/],
  ["a header with a line break", { url, headers: { a: "1\r\nhost: y" } }, /headers\.a: .*value/],
  ["a header beyond Latin letters", { url, headers: { a: "☃" } }, /headers\.a: .*value/],
  ["a long header", { url, headers: { a: "x".repeat(9000) } }, /headers\.a: longer/],
  ["a header that is no text", { url, headers: { a: 1 } }, /headers\.a: /],
  ["something else", { url, redirect: "follow" }, /redirect/],
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
    new RegExp(`headers\\.${name}: this header cannot be set here`),
  ]),
];

test.each(wrong)("a request with %s is not made", (_, input, words) => {
  const { success, error } = capability.inputSchema.safeParse(input);
  expect(success).toBe(false);
  expect(error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ")).toMatch(words);
});

test("an address is asked for in its one spelling", () => {
  expect(capability.inputSchema.parse({ url: "HTTPS://X.org:443\\a/../b%2e?é#c" })).toMatchObject({
    url: "https://x.org/b%2e?%C3%A9",
    method: "GET",
  });
});

test("the request log has a line for each, without what is secret or long", async () => {
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

test("what cannot be sent is logged too, and as carefully", () => {
  expect(
    capability.redactInput?.({ url: "https://me:secret@x.org/a?password=x", method: 5, headers: "secret", body: {} }),
  ).toEqual({ url: "https://x.org/a?password=…" });
  expect(capability.redactInput?.({ url: `nonsense${"x".repeat(1000)}` })).toEqual({
    url: expect.stringMatching(/^nonsensex{292}…$/),
  });
  for (const nothing of [null, "secret", 5, ["secret"], {}]) expect(capability.redactInput?.(nothing)).toEqual({});
});
