import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "./client.ts";

// What the client sends, and how it handles responses that no real host would send.

let url: string;
let seen: { method?: string; url?: string; headers: IncomingMessage["headers"]; body: string };
let isCutOff = false;
let reply: { status: number; body: string } = { status: 200, body: "{}" };

const server = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  seen = { method: request.method ?? "", url: request.url ?? "", headers: request.headers, body };
  if (isCutOff) response.writeHead(reply.status, { "content-length": 100 }).write(reply.body, () => response.destroy());
  else response.writeHead(reply.status).end(reply.body);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => void server.close());

test("path, query, body and token are encoded and sent where they belong", async () => {
  reply = { status: 200, body: '{"agents":[]}' };
  const client = createClient({ url: `${url}/`, token: "t0ken" });
  await client.call("listAgents", { params: { agency: "review:pr/1 ä" }, query: { limit: 5, after: "a&b" } });
  expect(seen).toMatchObject({ method: "GET", url: "/agency/review%3Apr%2F1%20%C3%A4/agents?limit=5&after=a%26b" });
  expect(seen.headers.authorization).toBe("Bearer t0ken");

  await client.call("createAgent", { params: { agency: "global" }, body: { name: "alice" } });
  expect(seen).toMatchObject({ method: "POST", url: "/agency/global/agents", body: '{"name":"alice"}' });
  expect(seen.headers["content-type"]).toBe("application/json");
});

test("no authorization header is sent without a token", async () => {
  await createClient({ url }).call("health");
  expect(seen.headers.authorization).toBeUndefined();
});

test("an error response is thrown as the error it describes", async () => {
  reply = {
    status: 409,
    body: JSON.stringify({ error: { code: "conflict", message: "Taken.", details: { suggestion: "bob" } } }),
  };
  await expect(createClient({ url }).call("health")).rejects.toMatchObject({
    name: "ThinkeryError",
    code: "conflict",
    message: "Taken.",
    details: { suggestion: "bob" },
  });
});

test("an error response of an unknown form is an internal error", async () => {
  for (const body of [
    "<html>",
    "",
    "null",
    "[]",
    '{"error":"x"}',
    '{"error":{"code":"made_up","message":"x"}}',
    '{"error":{"code":"conflict"}}',
  ]) {
    reply = { status: 502, body };
    await expect(createClient({ url }).call("health")).rejects.toMatchObject({ code: "internal" });
  }
});

test("a response that is cut off counts as unavailable, and one that is not JSON says so", async () => {
  isCutOff = true;
  reply = { status: 200, body: '{"status":"o' };
  await expect(createClient({ url }).call("health")).rejects.toMatchObject({ code: "unavailable" });
  isCutOff = false;
  reply = { status: 200, body: "<html>" };
  await expect(createClient({ url }).call("health")).rejects.toMatchObject({
    code: "internal",
    message: "The host’s response is not valid JSON.",
  });
});

test("an unreachable host is unavailable, and an abort is an abort", async () => {
  const unreachable = createClient({ url: "http://127.0.0.1:1" });
  await expect(unreachable.call("health")).rejects.toMatchObject({ code: "unavailable" });
  await expect(createClient({ url }).call("health", { signal: AbortSignal.abort() })).rejects.toMatchObject({
    name: "AbortError",
  });
});
