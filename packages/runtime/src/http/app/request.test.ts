import { expect, test } from "vitest";
import { toAppRequest } from "./request.ts";

const at = "http://127.0.0.1:5099/agency/review%3Apr-1/agent/alice/app";

const convert = (path: string, init?: RequestInit) => toAppRequest(new Request(`${at}${path}`, init));

test("an app receives the path below its address, undecoded", async () => {
  const paths = [
    "/",
    "/items/3?done=1&x=%20",
    "/a%2Fb/%zz",
    "//evil.example/x",
    "/app/agency/x/agent/y/app/z",
    "/@evil.example/",
  ];
  for (const path of paths) {
    const { url } = await convert(path);
    expect([path, new URL(url).origin, url]).toEqual([path, "http://app", new URL(`http://app${path}`).href]);
  }
});

test.each([
  "cookie",
  "Cookie2",
  "authorization",
  "proxy-authorization",
  "x-secret",
  "X-Thinkery-User",
  "x-thinkery-scopes",
  "x-thinkery-anything",
  "x-agents-lifecycle-props",
  "origin",
  "referer",
  "sec-fetch-site",
  "sec-websocket-key",
  "via",
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded",
  "x-real-ip",
  "true-client-ip",
  "cf-connecting-ip",
  "x-client-ip",
  "keep-alive",
  "te",
  "accept-encoding",
  "http2-settings",
])("%s does not reach an app", async (name) => {
  const { headers } = await convert("/", { headers: { [name]: "secret", accept: "text/html" } });
  expect([...headers]).toEqual([["accept", "text/html"]]);
});

test("other headers, the method and the body reach an app", async () => {
  const headers = {
    "content-type": "application/json",
    accept: "*/*",
    "accept-language": "de",
    "if-none-match": '"1"',
    range: "bytes=0-1",
    "user-agent": "curl",
    "x-api-key": "its own",
    "x-request-id": "7",
  };
  const request = await convert("/", { method: "POST", headers, body: "{}" });
  expect(Object.fromEntries(request.headers)).toEqual(headers);
  expect([request.method, await request.text()]).toEqual(["POST", "{}"]);
});

test("a body arrives unchanged and may have up to 1 MiB", async () => {
  const bytes = Uint8Array.from({ length: 1024 * 1024 }, (_, index) => (index * 31) % 256);
  const request = await convert("/", { method: "PUT", body: bytes });
  expect(Buffer.compare(Buffer.from(await request.arrayBuffer()), bytes)).toBe(0);
  await expect(convert("/", { method: "PUT", body: Buffer.concat([bytes, Buffer.from([0])]) })).rejects.toMatchObject({
    code: "too_large",
  });
});
