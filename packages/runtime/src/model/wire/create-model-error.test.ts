import { describe, expect, test } from "vitest";
import { createModelError, createNetworkError } from "./create-model-error.ts";
import { parseProviderError, parseErrorResponse, parseRetryAfter } from "./provider-error.ts";

const identity = { id: "test:model", keyName: "TEST_API_KEY", key: "secret-key-value" };
const classify = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  createModelError(
    identity,
    parseErrorResponse(status, new Headers(headers), typeof body === "string" ? body : JSON.stringify(body), 0),
  );

describe("a provider's error", () => {
  test.each([
    [
      "OpenAI, wrong key",
      401,
      { error: { message: "Incorrect API key", type: "invalid_request_error", code: "invalid_api_key" } },
      "auth",
    ],
    [
      "OpenAI, no credit, with a rate limit status",
      429,
      { error: { type: "insufficient_quota", code: "insufficient_quota" } },
      "quota",
    ],
    [
      "OpenAI, too long",
      400,
      { error: { type: "invalid_request_error", code: "context_length_exceeded" } },
      "overflow",
    ],
    ["OpenAI, filtered", 400, { error: { code: "content_policy_violation" } }, "content"],
    ["OpenAI, rate limit", 429, { error: { type: "tokens", code: "rate_limit_exceeded" } }, "overloaded"],
    [
      "Anthropic, too long",
      400,
      {
        type: "error",
        error: { type: "invalid_request_error", message: "prompt is too long: 205000 tokens > 200000 maximum" },
      },
      "overflow",
    ],
    [
      "Anthropic, something else that is too long",
      400,
      { type: "error", error: { type: "invalid_request_error", message: "The prompt is too long: no" } },
      "refused",
    ],
    [
      "Anthropic, overloaded",
      529,
      { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
      "overloaded",
    ],
    ["Anthropic, no credit", 402, { type: "error", error: { type: "billing_error" } }, "quota"],
    ["Anthropic, too many bytes", 413, { type: "error", error: { type: "request_too_large" } }, "overflow"],
    [
      "Google, wrong key, with a bad request status",
      400,
      { error: { code: 400, status: "INVALID_ARGUMENT", details: [{ reason: "API_KEY_INVALID" }] } },
      "auth",
    ],
    ["Google in a list", 503, [{ error: { code: 503, status: "UNAVAILABLE" } }], "overloaded"],
    ["Ollama, no such model", 404, { error: "model 'x' not found" }, "refused"],
    ["Workers AI, allocation used up", 429, { errors: [{ code: 3036, message: "used up" }] }, "quota"],
    ["llama.cpp, too long", 400, { error: { code: 400, type: "exceed_context_size_error" } }, "overflow"],
    ["a proxy's page", 504, "<html>Gateway timeout</html>", "overloaded"],
    ["nothing at all", 408, "", "overloaded"],
    ["a teapot", 418, "", "refused"],
  ])("%s", (_name, status, body, kind) => {
    const error = classify(status, body);
    expect(error.kind).toBe(kind);
    expect(error.retryable).toBe(kind === "overloaded");
    expect(error.status).toBe(status);
    expect(error.advice).not.toBe("");
  });

  test("names the variable of the key, and distinguishes a missing key from a wrong one", () => {
    expect(classify(401, "").advice).toContain("TEST_API_KEY");
    expect(createModelError({ id: "test:model", keyName: "TEST_API_KEY" }, { status: 401 }).message).toContain(
      "TEST_API_KEY is not set",
    );
    expect(classify(404, "").message).toContain("no such model");
  });

  test("never contains the key, an HTML page, or a long text", () => {
    const { message } = classify(401, {
      error: { message: `Wrong key secret-key-value or sk-proj-abc123***xyz ${"long ".repeat(500)}` },
    });
    expect(message).not.toMatch(/secret-key-value|abc123/);
    expect(message.length).toBeLessThan(400);
    expect(classify(502, "<html>secret page</html>").message).not.toContain("page");
    expect(createNetworkError(identity, "failed at secret-key-value").message).not.toContain("secret-key-value");
  });

  test("in the middle of a response, an unknown error counts as overloaded, and a known one keeps its kind", () => {
    expect(createModelError(identity, { message: "boom", midway: true }).kind).toBe("overloaded");
    expect(createModelError(identity, { code: "context_length_exceeded", midway: true }).kind).toBe("overflow");
    expect(createModelError(identity, { status: 401, midway: true }).kind).toBe("auth");
  });

  test("an event that is not an error yields none", () => {
    for (const event of [{ choices: [] }, { error: null }, { type: "ping" }, "text", null, 7, { errors: [] }])
      expect(parseProviderError(event)).toBeUndefined();
    expect(parseProviderError({ error: { code: 502, message: "bad" } })).toEqual({ status: 502, message: "bad" });
    expect(parseProviderError({ type: "error", code: "server_error", message: "bad", param: null })).toEqual({
      code: "server_error",
      message: "bad",
    });
  });
});

test.each([
  [{ "retry-after-ms": "1500", "retry-after": "9" }, 1500],
  [{ "retry-after": "2" }, 2000],
  [{ "retry-after": "0.5" }, 500],
  [{ "retry-after": "Thu, 01 Jan 1970 00:01:00 GMT" }, 60_000 - 1000],
  [{ "retry-after": "Wed, 31 Dec 1969 00:00:00 GMT" }, 0],
  [{ "retry-after": "soon" }, undefined],
  [{ "retry-after": "-3" }, undefined],
  [{}, undefined],
])("the retry delay of %o is %s ms", (headers, ms) => {
  expect(parseRetryAfter(new Headers(headers as Record<string, string>), 1000)).toBe(ms);
});

test("Google's retry delay is read from the details", () => {
  expect(
    classify(429, { error: { code: 429, status: "RESOURCE_EXHAUSTED", details: [{ retryDelay: "34.5s" }] } })
      .retryAfterMs,
  ).toBe(34_500);
});
