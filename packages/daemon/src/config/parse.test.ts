import { expect, test } from "vitest";
import { parseConfig } from "./parse.ts";

const messageOf = (text: string): string => {
  try {
    parseConfig("thinkery.jsonc", text);
  } catch (error) {
    return (error as Error).message;
  }
  return "no error";
};

test("comments, trailing commas and an empty file are fine", () => {
  expect(parseConfig("f", '// hello\n{ "port": 6000, /* why */ "sandboxSlots": 0, }')).toEqual({
    port: 6000,
    sandboxSlots: 0,
  });
  expect(parseConfig("f", "")).toEqual({});
  expect(parseConfig("f", "// nothing yet\n")).toEqual({});
  expect(parseConfig("f", '\uFEFF{ "port": 1 }')).toEqual({ port: 1 });
});

test("a syntax error names the file, the line and the column", () => {
  expect(messageOf('{\n  "port": 6000\n  "host": "127.0.0.1"\n}')).toBe(
    "thinkery.jsonc, line 3, column 3: this is not valid JSON (comma expected).",
  );
  expect(messageOf('{\r\n  "port" 6000\r\n}')).toContain("line 2, column 10");
});

test("an unknown key names its line and suggests the nearest known key", () => {
  const message = messageOf('{\n  // a comment\n  "port": 6000,\n  "sandboxSlot": 3\n}');
  expect(message).toBe("thinkery.jsonc, line 4, column 3: unknown key “sandboxSlot”; did you mean “sandboxSlots”?");
  expect(messageOf('{ "prot": 6000 }')).toContain("did you mean “port”?");
  expect(messageOf('{ "colour": "red" }')).toContain("known are $schema, port, host");
});

test("a bad value names its key, its line and what is expected", () => {
  expect(messageOf('{\n  "host": "127.0.0.1",\n  "port": "5099"\n}')).toBe(
    "thinkery.jsonc, line 3, column 11: “port” is not valid: expected a whole number from 1 to 65535.",
  );
  expect(messageOf('{ "port": 70000 }')).toContain("from 1 to 65535");
  expect(messageOf('{ "port": 1.5 }')).toContain("from 1 to 65535");
  expect(messageOf('{ "sandboxSlots": 17 }')).toContain("from 0 to 16");
  expect(messageOf('{ "allowedOrigins": [\n"https://a.example",\n"https://b.example/path"] }')).toContain(
    "line 3, column 1: “allowedOrigins[1]” is not valid: expected an origin",
  );
  expect(messageOf('{ "allowedHosts": "a.example" }')).toContain("expected a list of host names");
  expect(messageOf('{ "allowedHosts": ["a.example:80"] }')).toContain("without scheme or port");
  expect(messageOf("[]")).toContain("line 1, column 1: expected an object");
});

test("keys and values inside the model settings are named with their line", () => {
  expect(messageOf('{ "providers": {\n"groq": { "bas": "x" } } }')).toContain("line 2, column 9: “providers.groq.base” is not valid: expected the address");
  expect(messageOf('{ "providers": {\n"groq": { "base": "https://a.example", "wires": "chat" } } }')).toBe(
    "thinkery.jsonc, line 2, column 40: unknown key “wires”; did you mean “wire”?",
  );
  expect(messageOf('{ "turn": { "step": 3 } }')).toContain("did you mean “steps”?");
  expect(messageOf('{ "turn": { "steps": 0 } }')).toContain("“turn.steps” is not valid: expected a whole number from 1 to 10000");
  expect(messageOf('{ "sandbox": { "memory": 3 } }')).toContain("unknown key “memory”; did you mean “memoryMb”?");
  expect(messageOf('{ "sandbox": { "silenceSeconds": 0 } }')).toContain("“sandbox.silenceSeconds” is not valid: expected a whole number from 1 to 3600");
  expect(messageOf('{ "linux": { "network": "yes" } }')).toContain("“linux.network” is not valid: expected true or false");
  expect(messageOf('{ "model": "gpt-4" }')).toContain("provider:model");
  expect(messageOf('{ "prices": { "gpt-4": { "input": 1, "output": 1 } } }')).toContain("provider:model");
  expect(messageOf('{ "models": { "vison": "openai:x" } }')).toContain("did you mean “vision”?");
  expect(messageOf('{ "models": { "primary": "openai:x" } }')).toContain("unknown key “primary”; known are fast, summarizer, vision");
  expect(messageOf('{ "models": {\n"summarizer": "gpt-4" } }')).toContain("line 2, column 15: “models.summarizer” is not valid: write it as provider:model");
  expect(messageOf('{ "contextTokens": { "gpt-4": 8000 } }')).toContain("provider:model");
  expect(messageOf('{ "contextTokens": { "openai:x": 12.5 } }')).toContain("“contextTokens.openai:x” is not valid: expected a whole number of tokens, 1000 or more");
  for (const name of ["scripted", "Groq", "a b"]) {
    expect(messageOf(JSON.stringify({ providers: { [name]: { base: "https://a.example" } } }))).toContain(`providers.${name}`);
  }
  for (const base of ["groq.com", "ftp://a", "https://user:pw@a.example", "https://a.example?key=1"]) {
    expect(messageOf(JSON.stringify({ providers: { groq: { base } } }))).toContain("expected the address of an API");
  }
  for (const keyVariable of ["SIGNING_KEY", "THINKERY_API_KEY", "HOST", "lower_key", "PATH"]) {
    expect(messageOf(JSON.stringify({ providers: { groq: { base: "https://a.example", keyVariable } } }))).toContain("environment variable");
  }
});

test("a table of prices with nonsense in it is refused, with the line and what is expected", () => {
  const input = (text: string) => `{ "prices": {\n"openai:x": { "output": 1, "input": ${text} } } }`;
  for (const text of ["-1", "-0.001", "1e999", "-1e999", "1000001", '"3"', '"cheap"', "null", "true", "[3]", "{}"]) {
    expect([text, messageOf(input(text))]).toEqual([
      text,
      "thinkery.jsonc, line 2, column 37: “prices.openai:x.input” is not valid: expected dollars per million tokens, a number from 0 to 1000000.",
    ]);
  }
  for (const text of ["NaN", "Infinity", "1_000", "0x10", ".5.5"]) expect([text, messageOf(input(text))]).toEqual([text, expect.stringContaining("this is not valid JSON")]);
  for (const text of ["0", "0.0001", "1000000", "2.5"]) expect([text, messageOf(input(text))]).toEqual([text, "no error"]);
  expect(messageOf('{ "prices": { "openai:x": { "input": 1 } } }')).toContain("“prices.openai:x.output” is not valid: expected dollars");
  expect(messageOf('{ "prices": { "openai:x": 3 } }')).toContain("“prices.openai:x” is not valid");
  expect(messageOf('{ "prices": { "openai:x": { "input": 1, "output": 1, "cached": 1 } } }')).toContain("unknown key “cached”; known are input, output, cachedInput");
  expect(messageOf('{ "prices": [] }')).toContain("expected prices by model");
});
