import { createServer, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "./client.ts";

let url: string;
let seen: { method?: string; url?: string; headers: IncomingMessage["headers"]; body: string } | undefined;
let reply: { status: number; headers?: OutgoingHttpHeaders; body: string };

const server = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  seen = { method: request.method ?? "", url: request.url ?? "", headers: request.headers, body };
  response.writeHead(reply.status, reply.headers).end(reply.body);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => void server.close());

const alice = () => createClient({ url, token: "t0ken" }).agent("alice@review:pr-1");
const root = "/agency/review%3Apr-1/agent/alice/app/";
const app = { "x-thinkery-app": "0123456789ab" };

test("requests go to the address of the app, with the token and the given options", async () => {
  reply = { status: 200, headers: app, body: "hello" };
  expect(await (await alice().fetchApp()).text()).toBe("hello");
  expect(seen).toMatchObject({ method: "GET", url: root, headers: { authorization: "Bearer t0ken" } });
  await alice().fetchApp("/items/a%2Fb?done=1", {
    method: "POST",
    body: "{}",
    headers: { "x-one": "1", authorization: "Bearer other" },
  });
  expect(seen).toMatchObject({
    method: "POST",
    url: `${root}items/a%2Fb?done=1`,
    body: "{}",
    headers: { authorization: "Bearer t0ken", "x-one": "1" },
  });
});

test("the response of the app is returned, and an error of the host is thrown", async () => {
  reply = { status: 500, headers: { ...app, "x-thinkery-app-error": "1" }, body: "app error" };
  const response = await alice().fetchApp("x");
  expect([response.status, await response.text()]).toEqual([500, "app error"]);
  reply = { status: 404, body: JSON.stringify({ error: { code: "not_found", message: "This agent has no app." } }) };
  await expect(alice().fetchApp("x")).rejects.toMatchObject({ code: "not_found", message: "This agent has no app." });
});

test.each(["../state", "a/../../messages", "%2e%2e/state", "..\\state"])(
  "a path outside the app is not requested: %s",
  async (path) => {
    seen = undefined;
    await expect(alice().fetchApp(path)).rejects.toMatchObject({ code: "bad_request" });
    expect(seen).toBeUndefined();
  },
);
