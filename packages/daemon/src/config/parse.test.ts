import { expect, test } from "vitest";
import { parseConfig } from "./parse.ts";

const getMessage = (text: string): string => {
  try {
    parseConfig("thinkery.jsonc", text);
  } catch (error) {
    return (error as Error).message;
  }
  return "no error";
};

test("comments, trailing commas and empty files are accepted", () => {
  expect(parseConfig("f", '// hello\n{ "port": 6000, /* why */ "sandboxSlots": 0, }')).toEqual({
    port: 6000,
    sandboxSlots: 0,
  });
  expect(parseConfig("f", "")).toEqual({});
  expect(parseConfig("f", "// nothing yet\n")).toEqual({});
  expect(parseConfig("f", '\uFEFF{ "port": 1 }')).toEqual({ port: 1 });
});

test("a syntax error reports the file, line and column", () => {
  expect(getMessage('{\n  "port": 6000\n  "host": "127.0.0.1"\n}')).toBe(
    "thinkery.jsonc, line 3, column 3: invalid JSON (comma expected).",
  );
  expect(getMessage('{\r\n  "port" 6000\r\n}')).toContain("line 2, column 10");
});

test("an unknown key reports its line and suggests the closest known key", () => {
  const message = getMessage('{\n  // a comment\n  "port": 6000,\n  "sandboxSlot": 3\n}');
  expect(message).toBe("thinkery.jsonc, line 4, column 3: unknown key “sandboxSlot”; did you mean “sandboxSlots”?");
  expect(getMessage('{ "prot": 6000 }')).toContain("did you mean “port”?");
  expect(getMessage('{ "colour": "red" }')).toContain("known keys: $schema, port, host");
});

test("an invalid value reports its key, its line and what is expected", () => {
  expect(getMessage('{\n  "host": "127.0.0.1",\n  "port": "5099"\n}')).toBe(
    "thinkery.jsonc, line 3, column 11: invalid value for “port”: expected a whole number from 1 to 65535.",
  );
  expect(getMessage('{ "port": 70000 }')).toContain("from 1 to 65535");
  expect(getMessage('{ "port": 1.5 }')).toContain("from 1 to 65535");
  expect(getMessage('{ "sandboxSlots": 17 }')).toContain("from 0 to 16");
  expect(getMessage('{ "allowedOrigins": [\n"https://a.example",\n"https://b.example/path"] }')).toContain(
    "line 3, column 1: invalid value for “allowedOrigins[1]”: expected an origin",
  );
  expect(getMessage('{ "allowedHosts": "a.example" }')).toContain("expected a list of host names");
  expect(getMessage('{ "allowedHosts": ["a.example:80"] }')).toContain("without scheme or port");
  expect(getMessage("[]")).toContain("line 1, column 1: expected an object");
});

test("errors in nested settings report their path and line", () => {
  expect(getMessage('{ "providers": {\n"groq": { "bas": "x" } } }')).toContain(
    "line 2, column 9: invalid value for “providers.groq.baseUrl”: expected the URL",
  );
  expect(getMessage('{ "providers": {\n"groq": { "baseUrl": "https://a.example", "wires": "chat" } } }')).toBe(
    "thinkery.jsonc, line 2, column 43: unknown key “wires”; did you mean “wire”?",
  );
  expect(getMessage('{ "turn": { "maxStep": 3 } }')).toContain("did you mean “maxSteps”?");
  expect(getMessage('{ "turn": { "maxSteps": 0 } }')).toContain(
    "invalid value for “turn.maxSteps”: expected a whole number from 1 to 10000",
  );
  expect(getMessage('{ "sandbox": { "memory": 3 } }')).toContain("unknown key “memory”; did you mean “memoryMb”?");
  expect(getMessage('{ "sandbox": { "stallTimeoutSeconds": 0 } }')).toContain(
    "invalid value for “sandbox.stallTimeoutSeconds”: expected a whole number from 1 to 3600",
  );
  expect(getMessage('{ "linux": { "network": "yes" } }')).toContain(
    "invalid value for “linux.network”: expected true or false",
  );
  expect(getMessage('{ "model": "gpt-4" }')).toContain("provider:model");
  expect(getMessage('{ "prices": { "gpt-4": { "input": 1, "output": 1 } } }')).toContain("provider:model");
  expect(getMessage('{ "models": { "vison": "openai:x" } }')).toContain("did you mean “vision”?");
  expect(getMessage('{ "models": { "primary": "openai:x" } }')).toContain(
    "unknown key “primary”; known keys: fast, summarizer, vision",
  );
  expect(getMessage('{ "models": {\n"summarizer": "gpt-4" } }')).toContain(
    "line 2, column 15: invalid value for “models.summarizer”: expected provider:model",
  );
  expect(getMessage('{ "contextTokens": { "gpt-4": 8000 } }')).toContain("provider:model");
  expect(getMessage('{ "contextTokens": { "openai:x": 12.5 } }')).toContain(
    "invalid value for “contextTokens.openai:x”: expected a whole number of tokens, 1000 or more",
  );
  for (const name of ["scripted", "Groq", "a b"]) {
    expect(getMessage(JSON.stringify({ providers: { [name]: { baseUrl: "https://a.example" } } }))).toContain(
      `providers.${name}`,
    );
  }
  for (const baseUrl of ["groq.com", "ftp://a", "https://user:pw@a.example", "https://a.example?key=1"]) {
    expect(getMessage(JSON.stringify({ providers: { groq: { baseUrl } } }))).toContain("expected the URL of an API");
  }
  for (const apiKeyVariable of ["SIGNING_KEY", "THINKERY_API_KEY", "HOST", "lower_key", "PATH"]) {
    expect(
      getMessage(JSON.stringify({ providers: { groq: { baseUrl: "https://a.example", apiKeyVariable } } })),
    ).toContain("environment variable");
  }
});

test("invalid prices are rejected with their line and what is expected", () => {
  const input = (text: string) => `{ "prices": {\n"openai:x": { "output": 1, "input": ${text} } } }`;
  for (const text of ["-1", "-0.001", "1e999", "-1e999", "1000001", '"3"', '"cheap"', "null", "true", "[3]", "{}"]) {
    expect([text, getMessage(input(text))]).toEqual([
      text,
      "thinkery.jsonc, line 2, column 37: invalid value for “prices.openai:x.input”: expected US dollars per million tokens, from 0 to 1000000.",
    ]);
  }
  for (const text of ["NaN", "Infinity", "1_000", "0x10", ".5.5"])
    expect([text, getMessage(input(text))]).toEqual([text, expect.stringContaining("invalid JSON")]);
  for (const text of ["0", "0.0001", "1000000", "2.5"])
    expect([text, getMessage(input(text))]).toEqual([text, "no error"]);
  expect(getMessage('{ "prices": { "openai:x": { "input": 1 } } }')).toContain(
    "invalid value for “prices.openai:x.output”: expected US dollars",
  );
  expect(getMessage('{ "prices": { "openai:x": 3 } }')).toContain("invalid value for “prices.openai:x”");
  expect(getMessage('{ "prices": { "openai:x": { "input": 1, "output": 1, "cached": 1 } } }')).toContain(
    "unknown key “cached”; known keys: input, output, cachedInput",
  );
  expect(getMessage('{ "prices": [] }')).toContain("expected prices by model");
});
