import { expect, test } from "vitest";
import {
  agencyIdSchema,
  agentNameSchema,
  blueprintNameSchema,
  modelIdSchema,
  scriptNameSchema,
  userNameSchema,
} from "./name-schemas.ts";
import {
  type AgentAddress,
  formatAgentObjectName,
  formatAddress,
  findNameIssue,
  nameRules,
  parseAddress,
} from "./names.ts";

test("plain names are names, hyphens and dots inside included", () => {
  for (const name of ["a", "alice", "kimi-code", "v2.1", "A_b-c.d", "0", "x".repeat(64)]) {
    expect([name, agentNameSchema.safeParse(name).success]).toEqual([name, true]);
  }
});

test("nothing that could be a path, a separator or a look-alike is a name", () => {
  const bad = [
    "",
    ".",
    "..",
    ".a",
    "a.",
    "-a",
    "a-",
    "a/b",
    "a\\b",
    "a b",
    "a~b",
    "a:b",
    "a@b",
    "a#b",
    "a\u0000",
    "аlice",
    "ａ",
    "é",
    "a\u200b",
    "x".repeat(65),
  ];
  for (const name of bad) expect([name, agentNameSchema.safeParse(name).success]).toEqual([name, false]);
});

test("the classes of the Agents SDK's routes are no agents' names, in any case", () => {
  for (const name of ["think", "Think", "AGENCY", "user", "sub", "Sub"]) {
    expect([name, agentNameSchema.safeParse(name).success]).toEqual([name, false]);
  }
});

test("a schema and the check without one agree, word for word", () => {
  const names = [
    "",
    "a",
    "alice",
    "Think",
    "a b",
    "a.",
    "a:b",
    "a:b:c",
    "é".repeat(101),
    ...[64, 65, 100, 101].map((length) => "x".repeat(length)),
  ];
  const schemas = {
    agent: agentNameSchema,
    agency: agencyIdSchema,
    blueprint: blueprintNameSchema,
    user: userNameSchema,
    script: scriptNameSchema,
  };
  for (const kind of Object.keys(schemas) as (keyof typeof schemas)[]) {
    for (const name of names) {
      expect([kind, name, findNameIssue(nameRules[kind], name)]).toEqual([
        kind,
        name,
        schemas[kind].safeParse(name).error?.issues[0]?.message,
      ]);
    }
  }
});

test("an agency may carry one tag", () => {
  expect(agencyIdSchema.safeParse("review:pr-123").success).toBe(true);
  for (const id of ["review:", ":pr", "a:b:c", "a::b", "a:b/c"])
    expect([id, agencyIdSchema.safeParse(id).success]).toEqual([id, false]);
});

test("a model has a provider", () => {
  for (const id of ["openai:gpt-4o", "ollama:llama3:8b", "openai-compatible:org/model"])
    expect(modelIdSchema.safeParse(id).success).toBe(true);
  for (const id of ["gpt-4o", ":x", "openai:", "Open AI:x", "openai:a b"])
    expect([id, modelIdSchema.safeParse(id).success]).toEqual([id, false]);
});

test("an agent's object name comes apart the way it was put together, and only then", () => {
  expect(formatAgentObjectName("review:pr-1", "alice")).toBe("review:pr-1~alice");
  for (const path of [["alice"], ["alice", "researcher"], ["alice", "researcher", "reader"]] as const) {
    const address: AgentAddress = { agency: "review:pr-1", path };
    expect(parseAddress(formatAddress(address))).toEqual(address);
  }
  for (const text of ["alice", "~alice", "global~", "a~b~c", "a~b/", "a~/b", "a~b//c", ""])
    expect(parseAddress(text)).toBeUndefined();
});
