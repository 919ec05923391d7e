import { expect, test } from "vitest";
import { readCallerContext } from "./caller-context.ts";

const read = (headers: Record<string, string>) => readCallerContext({ headers: new Headers(headers) } as Request);

test("the context says where a request came from and contains no credentials", () => {
  expect(
    read({
      "user-agent": "curl/8",
      origin: "http://127.0.0.1:5099",
      referer: "https://bob:secret@example.com/page?token=secret#code=secret",
      authorization: "Bearer secret",
      "x-secret": "secret",
      cookie: "a=secret",
    }),
  ).toEqual({ userAgent: "curl/8", origin: "http://127.0.0.1:5099", referrer: "https://example.com/page" });
});

test("values are truncated, and missing ones are omitted", () => {
  expect(read({})).toEqual({});
  expect(read({ referer: "not an address" })).toEqual({});
  expect(read({ "user-agent": "x".repeat(10_000) }).userAgent).toHaveLength(300);
});
