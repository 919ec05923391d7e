import { afterAll, beforeAll, expect, test } from "vitest";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { send } from "../kit/wire.ts";

let host: HostProcess;

beforeAll(async () => {
  host = await startHostProcess();
});

afterAll(() => host?.stop());

const request = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  send({ port: host.port, path, method, headers });

test("every response has the security headers, including errors", async () => {
  const authorization = `Bearer ${host.token}`;
  const responses = await Promise.all([
    request("/"),
    request("/health"),
    request("/agents"),
    request("/agents", { authorization }),
    request("/nothing", { authorization }),
    request("/agents", { authorization }, "PUT"),
    request("/health", { host: "evil.example" }),
    request("/health", { origin: "http://evil.example" }),
    // Answered by the Agents SDK.
    request("/agents/user/owner", { authorization }),
    request("/agents/agency/global", { authorization }),
    request("/agents/agency/global/sub/think/x", { authorization }),
    request("/agents/agency/global/get-messages", { authorization }, "POST"),
    request("/agents/think/global~nobody", { authorization }),
  ]);
  for (const { headers } of responses) {
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

test("API responses are not cached, and page files only under a hashed name", async () => {
  expect((await request("/agents", { authorization: `Bearer ${host.token}` })).headers["cache-control"]).toBe(
    "no-store",
  );
  const index = await request("/");
  expect(index.headers["cache-control"]).toBe("no-cache");
  expect(index.headers["content-type"]).toBe("text/html; charset=utf-8");
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(index.body)?.[1] ?? "";
  const asset = await request(script);
  expect(asset.headers).toMatchObject({
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": "public, max-age=31536000, immutable",
  });
});

test("only the page's own files are served without a token", async () => {
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
    const { status } = await request(path);
    expect([path, [401, 404].includes(status)]).toEqual([path, true]);
  }
});
