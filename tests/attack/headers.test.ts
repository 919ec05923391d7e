import { afterAll, beforeAll, expect, test } from "vitest";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { send } from "../kit/wire.ts";

let house: HostProcess;

beforeAll(async () => {
  house = await startHostProcess();
});

afterAll(() => house?.stop());

const ask = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  send({ port: house.port, path, method, headers });

test("every answer carries the security headers, refusals included", async () => {
  const authorization = `Bearer ${house.token}`;
  const answers = await Promise.all([
    ask("/"),
    ask("/health"),
    ask("/agents"),
    ask("/agents", { authorization }),
    ask("/nothing", { authorization }),
    ask("/agents", { authorization }, "PUT"),
    ask("/health", { host: "evil.example" }),
    ask("/health", { origin: "http://evil.example" }),
  ]);
  for (const { headers } of answers) {
    expect(headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "x-frame-options": "DENY",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
    });
    expect(headers["content-security-policy"]).toContain("default-src 'none'");
    expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
    expect(headers["content-security-policy"]).not.toContain("unsafe");
    expect(headers["access-control-allow-origin"]).toBeUndefined();
    expect(headers.server).toBeUndefined();
  }
});

test("answers of the API are kept by nobody, files of the page only under a hashed name", async () => {
  expect((await ask("/agents", { authorization: `Bearer ${house.token}` })).headers["cache-control"]).toBe("no-store");
  const index = await ask("/");
  expect(index.headers["cache-control"]).toBe("no-cache");
  expect(index.headers["content-type"]).toBe("text/html; charset=utf-8");
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(index.body)?.[1] ?? "";
  const asset = await ask(script);
  expect(asset.headers).toMatchObject({
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": "public, max-age=31536000, immutable",
  });
});

test("nothing but the page's own files is served without a token", async () => {
  for (const path of [
    "/assets/",
    "/assets/..%2f..%2fbuild.json",
    "/assets/../index.html",
    "/build.json",
    "/worker/main/main.js",
    "/index.html",
    "/.env",
    "/assets/.hidden",
  ]) {
    const { status } = await ask(path);
    expect([path, [401, 404].includes(status)]).toEqual([path, true]);
  }
});
