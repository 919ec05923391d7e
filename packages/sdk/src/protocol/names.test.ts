import { expect, test } from "vitest";
import {
  agencyIdSchema,
  agencyRefSchema,
  agentNameSchema,
  blueprintNameSchema,
  modelIdSchema,
  scriptNameSchema,
  userNameSchema,
} from "./name-schemas.ts";
import {
  type AgentAddress,
  formatAgencyRef,
  formatAgentObjectName,
  formatAddress,
  findNameIssue,
  nameRules,
  parseAddress,
  parseAgencyRef,
} from "./names.ts";

test("plain names are valid, with hyphens and dots inside", () => {
  for (const name of ["a", "alice", "kimi-code", "v2.1", "A_b-c.d", "0", "x".repeat(64)]) {
    expect([name, agentNameSchema.safeParse(name).success]).toEqual([name, true]);
  }
});

test("paths, separators and look-alike letters are not valid in names", () => {
  const invalid = [
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
  for (const name of invalid) expect([name, agentNameSchema.safeParse(name).success]).toEqual([name, false]);
});

test("the classes in the Agents SDK's routes are reserved, in upper and lower case", () => {
  for (const name of ["think", "Think", "AGENCY", "user", "sub", "Sub"]) {
    expect([name, agentNameSchema.safeParse(name).success]).toEqual([name, false]);
  }
});

test("a schema and the check without Zod return the same messages", () => {
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

test("an agency may have one tag", () => {
  expect(agencyIdSchema.safeParse("review:pr-123").success).toBe(true);
  for (const id of ["review:", ":pr", "a:b:c", "a::b", "a:b/c"])
    expect([id, agencyIdSchema.safeParse(id).success]).toEqual([id, false]);
});

test("an agency can be named with its user, and each part keeps its own limits", () => {
  const [id, user] = ["x".repeat(100), "u".repeat(64)];
  for (const ref of ["review", "review:pr-1", "review@bob", "review:pr-1@bob", "global@owner", `${id}@${user}`])
    expect([ref, agencyRefSchema.safeParse(ref).success]).toEqual([ref, true]);
  const invalid = ["", "@", "@bob", "review@", "a@b@c", "a@b:c", "a@b/c", "a @b", `${id}x`, `${id}x@bob`, `a@${user}u`];
  for (const ref of invalid) expect([ref, agencyRefSchema.safeParse(ref).success]).toEqual([ref, false]);
});

test("an agency has one key, however it is named, and each user's own name for it", () => {
  expect(parseAgencyRef("bob", "review")).toEqual({ id: "review", user: "bob", key: "review@bob" });
  expect(parseAgencyRef("bob", "review@bob")).toEqual(parseAgencyRef("alice", "review@bob"));
  expect(parseAgencyRef("alice", "global@owner").key).toBe(parseAgencyRef("owner", "global").key);
  for (const [user, ref] of [
    ["bob", "review"],
    ["alice", "review@bob"],
    ["alice", "global@owner"],
    ["owner", "global"],
    ["owner", "review:pr-1@bob"],
  ] as const)
    expect(formatAgencyRef(user, parseAgencyRef(user, ref).key)).toBe(ref);
});

test("a model id needs a provider", () => {
  for (const id of ["openai:gpt-4o", "ollama:llama3:8b", "openai-compatible:org/model"])
    expect(modelIdSchema.safeParse(id).success).toBe(true);
  for (const id of ["gpt-4o", ":x", "openai:", "Open AI:x", "openai:a b"])
    expect([id, modelIdSchema.safeParse(id).success]).toEqual([id, false]);
});

test("parseAddress inverts formatAddress and rejects everything else", () => {
  expect(formatAgentObjectName("review:pr-1", "alice")).toBe("review:pr-1~alice");
  for (const path of [["alice"], ["alice", "researcher"], ["alice", "researcher", "reader"]] as const) {
    const address: AgentAddress = { agency: "review:pr-1", path };
    expect(parseAddress(formatAddress(address))).toEqual(address);
  }
  for (const text of ["alice", "~alice", "global~", "a~b~c", "a~b/", "a~/b", "a~b//c", ""])
    expect(parseAddress(text)).toBeUndefined();
});
