import { createServer, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createClient } from "./client.ts";

interface Seen {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingMessage["headers"];
  body: Buffer;
}

let url: string;
let seen: Seen[] = [];
let replies: { status: number; headers?: OutgoingHttpHeaders; body?: string | Buffer }[] = [];

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  seen.push({ method: request.method, url: request.url, headers: request.headers, body: Buffer.concat(chunks) });
  const { status, headers, body } =
    replies.length > 1 ? (replies.shift() as (typeof replies)[number]) : (replies[0] as (typeof replies)[number]);
  response.writeHead(status, headers).end(body);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => void server.close());

beforeEach(() => {
  seen = [];
});

const root = "/agency/review%3Apr-1/agent/alice";
const alice = () => createClient({ url, token: "t0ken" }).agent("alice@review:pr-1");
const file = {
  path: "a.txt",
  kind: "text",
  size: 2,
  mediaType: "text/plain",
  hash: "a1",
  version: 7,
  modifiedAt: "2026-11-15T20:00:00.000Z",
};
const json = (body: unknown, status = 200) => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
const errorResponse = (code: string, message: string, status: number, details?: object) =>
  json({ error: { code, message, ...(details ? { details } : {}) } }, status);

test("a file is read with its metadata", async () => {
  const headers = {
    "content-type": "text/markdown; charset=utf-8",
    etag: '"a1"',
    "last-modified": "Sun, 15 Nov 2026 20:00:00 GMT",
    "x-thinkery-kind": "text",
    "x-thinkery-version": "7",
  };
  replies = [{ status: 200, headers, body: Buffer.from("\ufeffhé") }];
  const { bytes, text, ...info } = await alice().file("./docs/a b#?%é.md", { version: 9, branch: "try" });
  expect(info).toEqual({
    path: "docs/a b#?%é.md",
    kind: "text",
    size: 6,
    mediaType: "text/markdown",
    hash: "a1",
    version: 7,
    modifiedAt: "2026-11-15T20:00:00.000Z",
  });
  expect([text(), bytes.length]).toEqual(["\ufeffhé", 6]);
  expect(seen).toMatchObject([
    {
      method: "GET",
      url: `${root}/files/docs/a%20b%23%3F%25%C3%A9.md?version=9&branch=try`,
      headers: { authorization: "Bearer t0ken" },
    },
  ]);
});

test("bytes and text are written unchanged, with the given condition", async () => {
  replies = [json(file)];
  await alice().putFile("a.txt", "hé");
  await alice().putFile("a.bin", new Uint8Array([0, 255]), { ifMatch: "a1", branch: "try" });
  await alice().putFile("a.txt", "", { isNew: true });
  expect(seen).toMatchObject([
    { method: "PUT", url: `${root}/files/a.txt`, body: Buffer.from("hé") },
    { url: `${root}/files/a.bin?branch=try`, body: Buffer.from([0, 255]), headers: { "if-match": '"a1"' } },
    { headers: { "if-none-match": "*" }, body: Buffer.alloc(0) },
  ]);
  expect(seen[0]?.headers["if-match"]).toBeUndefined();
});

test("an error of the host is thrown, with the current hash of the file", async () => {
  replies = [errorResponse("precondition_failed", "“a.txt” has changed meanwhile.", 412, { hash: "b2" })];
  await expect(alice().putFile("a.txt", "x", { ifMatch: "a1" })).rejects.toMatchObject({
    code: "precondition_failed",
    details: { hash: "b2" },
  });
  expect(seen).toHaveLength(1);
  replies = [errorResponse("not_found", "There is no file.", 404)];
  await expect(alice().file("a.txt")).rejects.toMatchObject({ code: "not_found" });
  await expect(alice().archive()).rejects.toMatchObject({ code: "not_found" });
});

test("requests are retried while the host restarts, unless they are not idempotent", async () => {
  const unavailable = errorResponse("unavailable", "The host is restarting.", 503);
  replies = [unavailable, json(file)];
  expect(await alice().putFile("a.txt", "x")).toEqual(file);
  expect(seen).toHaveLength(2);
  for (const request of [
    () => alice().putFile("a.txt", "x", { isNew: true }),
    () => alice().deleteFile("a.txt"),
    () => alice().editFiles([{ delete: "a.txt" }], { base: 3 }),
    () => alice().revert({ version: 1 }),
    () => alice().mergeBranch("try"),
  ]) {
    seen = [];
    replies = [unavailable];
    await expect(request()).rejects.toMatchObject({ code: "unavailable" });
    expect(seen).toHaveLength(1);
  }
});

test("a long list is read page by page as of one version", async () => {
  replies = [
    json({ files: [file], version: 12, next: "a.txt" }),
    json({ files: [{ ...file, path: "b.txt" }], version: 12 }),
  ];
  const paths: string[] = [];
  for await (const { path } of alice().allFiles({ under: "src" })) paths.push(path);
  expect(paths).toEqual(["a.txt", "b.txt"]);
  expect(seen.map(({ url }) => url)).toEqual([
    `${root}/files?under=src&limit=500`,
    `${root}/files?under=src&version=12&limit=500&after=a.txt`,
  ]);
});

test("other requests have the right method, path and body", async () => {
  const agent = alice();
  replies = [json({ overlaps: [], branches: [], versions: [] })];
  await agent.deleteFile("src", { recursive: true, ifMatch: "*" });
  await agent.putArchive(new Uint8Array([1, 2]), { replace: true });
  await agent.version(12, { path: "a.txt" });
  await agent.mergeBranch("try", { dryRun: true });
  await agent.deleteBranch("try");
  await agent.editFiles([{ delete: "a" }], { base: 3, branch: "try" });
  expect(seen.map(({ method, url, body }) => [method, url?.slice(root.length), body.toString("latin1")])).toEqual([
    ["DELETE", "/files/src?recursive=1", ""],
    ["PUT", "/archive?replace=1", "\u0001\u0002"],
    ["GET", "/versions/12?path=a.txt", ""],
    ["POST", "/branches/try/merge", '{"dryRun":true}'],
    ["DELETE", "/branches/try", ""],
    ["POST", "/files?branch=try", '{"edits":[{"delete":"a"}],"base":3}'],
  ]);
  expect(seen[0]?.headers["if-match"]).toBe("*");
});

test.each(["../state", "a/../../messages", "..\\state", "", "/etc/passwd", "a//b", "\ud800", "%2e%2e/state"])(
  "an invalid path is not requested: %s",
  async (path) => {
    for (const request of [
      () => alice().file(path),
      () => alice().putFile(path, "x"),
      () => alice().deleteFile(path),
    ]) {
      await expect(request()).rejects.toMatchObject({ code: "bad_request" });
    }
    expect(seen).toEqual([]);
  },
);
