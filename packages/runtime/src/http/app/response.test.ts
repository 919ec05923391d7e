import { expect, test } from "vitest";
import { sanitizeAppResponse } from "./response.ts";

const address = "/agency/global/agent/alice/app/";

const respond = (headers: Record<string, string> = {}, status = 200) =>
  sanitizeAppResponse(
    new Response("hello", { status, headers: { "x-thinkery-app": "0123456789ab", ...headers } }),
    "http://app/shop/cart?x=1",
    address,
  );

/** Headers that we set, whatever the app sets. */
const enforced = {
  "content-security-policy": "sandbox allow-scripts allow-forms; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "x-frame-options": "DENY",
};

test("every response of an app is isolated", async () => {
  for (const status of [200, 404, 500]) {
    const response = respond({}, status);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      ...enforced,
      "cache-control": "no-store",
      "x-thinkery-app": "0123456789ab",
    });
    expect([response.status, await response.text()]).toEqual([status, "hello"]);
    expect(response.headers.get("cross-origin-opener-policy")).toBe(null);
    expect(response.headers.get("x-thinkery-app-error")).toBe(status === 500 ? "1" : null);
  }
});

test.each(Object.keys(enforced))("an app cannot override %s", (name) => {
  expect(respond({ [name]: "unsafe-none" }).headers.get(name)).toBe(enforced[name as keyof typeof enforced]);
});

test.each([
  "set-cookie",
  "set-cookie2",
  "content-security-policy-report-only",
  "access-control-allow-origin",
  "access-control-allow-credentials",
  "service-worker-allowed",
  "refresh",
  "clear-site-data",
  "cross-origin-opener-policy",
  "cross-origin-embedder-policy",
  "origin-agent-cluster",
  "strict-transport-security",
  "alt-svc",
  "link",
  "report-to",
  "reporting-endpoints",
  "nel",
  "permissions-policy",
  "feature-policy",
  "www-authenticate",
  "proxy-authenticate",
  "content-disposition",
  "sourcemap",
  "x-sourcemap",
  "speculation-rules",
  "accept-ch",
  "timing-allow-origin",
  "server",
  "via",
  "vary",
  "upgrade",
  "x-accel-redirect",
  "x-sendfile",
  "x-reproxy-url",
  "x-xss-protection",
  "x-dns-prefetch-control",
  "x-permitted-cross-domain-policies",
  "x-ua-compatible",
  "x-webkit-csp",
  "x-content-security-policy",
  "x-thinkery-user",
  "x-thinkery-app-error",
  "x-agents-anything",
  "x-robots-tag",
  "x-forwarded-for",
])("%s of an app is removed", (name) => {
  expect(respond({ [name]: "anything" }).headers.has(name)).toBe(false);
});

test("headers that describe the body are kept", () => {
  const described = {
    "content-type": "text/html; charset=utf-8",
    "content-language": "de",
    "cache-control": "max-age=60",
    etag: '"1"',
    "last-modified": "Sun, 15 Nov 2026 00:00:00 GMT",
    "x-total-count": "3",
    "x-frames": "2",
  };
  expect(Object.fromEntries(respond(described).headers)).toMatchObject(described);
});

test("excess and overlong headers are removed", () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`x-${index}`, "1"]));
  const { headers } = respond({
    ...many,
    "x-0-long": "x".repeat(5000),
    etag: "x".repeat(5000),
    "content-type": "text/plain",
    location: `/${"x".repeat(5000)}`,
  });
  expect([...headers.keys()].filter((name) => /^x-\d+$/.test(name))).toHaveLength(32);
  expect([headers.has("x-0-long"), headers.has("etag"), headers.has("location"), headers.get("content-type")]).toEqual([
    false,
    false,
    false,
    "text/plain",
  ]);
});

test.each([
  ["/next", `${address}next`],
  ["next?y=2#z", `${address}shop/next?y=2#z`],
  ["http://app/next", `${address}next`],
  ["../../../up", `${address}up`],
  ["?page=2", `${address}shop/cart?page=2`],
  [".//evil.example/x", `${address}shop//evil.example/x`],
  ["http://app//evil.example", `${address}/evil.example`],
])("an app can redirect to %s", (location, target) => {
  const { headers } = respond({ location }, 302);
  expect(headers.get("location")).toBe(target);
  expect(new URL(target, "http://127.0.0.1:5099").href.startsWith(`http://127.0.0.1:5099${address}`)).toBe(true);
});

test.each([
  "https://evil.example/",
  "//evil.example/",
  "http://app:81/",
  "https://app/",
  "http://app.evil.example/",
  "http://app@evil.example/",
  "javascript:alert(1)",
  "data:text/html,x",
  "\\\\evil.example\\x",
  "http://",
])("an app cannot redirect to %s", (location) => {
  expect(respond({ location }, 302).headers.has("location")).toBe(false);
});
