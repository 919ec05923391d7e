import { expect, test } from "vitest";
import { findMentions, type Mentions, searchMentions } from "./mentions.ts";

const agents = ["kimi", "kimi-code", "dr.who", "Lead", "v1.2", "a"];
const names = {
  findAgent: (name: string) => agents.find((agent) => agent.toLowerCase() === name.toLowerCase()),
  hasPerson: (name: string): boolean => name === "ann",
  listAgents: () => agents,
};

const find = (text: string) => findMentions(text, names);

test("agents are mentioned by their whole names, in any case and once", () => {
  expect(find("@kimi-code and @dr.who, @lead. @LEAD!").agents).toEqual(["kimi-code", "dr.who", "Lead"]);
  expect(find("(@kimi) «@dr.who.»")).toEqual({ agents: ["kimi", "dr.who"], unknown: [] });
});

test("a mention of nobody is reported with the nearest agent, and people are somebody", () => {
  expect(find("@laed, @zebra and @ann")).toEqual({
    agents: [],
    unknown: [{ name: "laed", suggestion: "Lead" }, { name: "zebra" }],
  });
});

test.each<[text: string, mentioned: string[], unknown?: string[]]>([
  // What ends a sentence is no part of a name; what could be one is.
  ["@kimi.", ["kimi"]],
  ["@kimi...", ["kimi"]],
  ["@kimi-", ["kimi"]],
  ["_hi @kimi_", ["kimi"]],
  ["@kimi's", ["kimi"]],
  ["@kimi:@lead", ["kimi"]],
  ["@kimi,@lead;@dr.who", ["kimi", "Lead", "dr.who"]],
  ["@v1.2.", ["v1.2"]],
  ["@v1.2.3", [], ["v1.2.3"]],
  ["@kimi-code.", ["kimi-code"]],
  ["@kimi-codes", [], ["kimi-codes"]],
  ["@kimi-", ["kimi"]],
  ["@kimi-code-", ["kimi-code"]],
  ["@kimi_code", [], ["kimi_code"]],
  ["@dr.whose", [], ["dr.whose"]],
  ["@dr", [], ["dr"]],
  ["请@kimi看", ["kimi"]],
  ["@kimi\u00a0@lead", ["kimi", "Lead"]],
  ['**@kimi** *@lead* [@dr.who](x) "@v1.2"', ["kimi", "Lead", "dr.who", "v1.2"]],
  ["<@kimi>", ["kimi"]],
  ["line\n@kimi\r\n@lead", ["kimi", "Lead"]],
  // Addresses, paths and words.
  ["me@kimi", []],
  ["me@kimi.example", []],
  ["josé@kimi", []],
  ["@josé", []],
  ["@kimié", []],
  ["@a@kimi", []],
  ["@kimi-code@example.org", []],
  ["@kimi@", []],
  ["@@kimi", []],
  ["https://x.example/@kimi", []],
  ["ssh://git:@kimi", []],
  ["foo.@kimi", []],
  ["foo-@kimi", []],
  ["@", []],
  ["@-kimi", []],
  ["@.kimi", []],
  ["@ kimi", []],
  ["＠kimi", []],
  // Code.
  ["`@kimi`", []],
  ["`@kimi` and @lead", ["Lead"]],
  ["`a`@kimi", ["kimi"]],
  ["`@kimi and @lead", ["kimi", "Lead"]],
  ["`@kimi\n` @lead", ["kimi", "Lead"]],
  ["```\n@kimi\n```\n@lead", ["Lead"]],
  ["```@kimi``` @lead", ["Lead"]],
  ["```\n@kimi", []],
  ["```` @kimi ````", []],
  ["~~~\n@kimi\n~~~", ["kimi"]],
])("%j mentions %j", (text, mentioned, unknown = []) => {
  const found = find(text);
  expect([found.agents, found.unknown.map(({ name }) => name)]).toEqual([mentioned, unknown]);
});

test("what is longer than any name mentions nobody, also not by its beginning", () => {
  expect(find(`@${"x".repeat(65)} @kimi-${"y".repeat(100)} @${"z".repeat(200)}.a`)).toEqual({
    agents: [],
    unknown: [],
  });
  expect(find(`@kimi${".".repeat(500)}`).agents).toEqual(["kimi"]);
});

/** Counts what a search does, in its own units: time depends on the machine. */
function measure(text: string, among = names): { units: number; found: Mentions; maxPiece: number } {
  const search = searchMentions(text, among);
  let [units, maxPiece] = [0, 0];
  for (;;) {
    const { done, value } = search.next();
    if (done) return { units, found: value, maxPiece };
    units += value;
    maxPiece = Math.max(maxPiece, value);
  }
}

const long = 4 * 1024 * 1024;
const repeat = (text: string) => text.repeat(Math.ceil(long / text.length)).slice(0, long);

test.each<[what: string, text: string]>([
  ["mentions", repeat("@kimi ")],
  ["mentions of nobody", Array.from({ length: 400_000 }, (_, index) => `@x${index}`).join(" ")],
  ["ats", repeat("@")],
  ["one word", `@${repeat("a")}`],
  ["a word that is no name in the end", `@${repeat("a")}@`],
  ["a name and dots", `@a${repeat(".")}`],
  ["dots and letters", `@${repeat("a.")}@`],
  ["hyphens", `@a${repeat("-")}_@`],
  ["backticks", repeat("`")],
  ["open code", repeat("`a\n")],
  ["fences", repeat("``` ` ")],
  ["an open fence", `\`\`\`${repeat("a` @kimi ")}`],
  ["letters with accents", repeat("é@kimié ")],
])("4 MB of %s are searched in linear time", (_, text) => {
  // In quadratic time, this takes hours.
  const { units } = measure(text);
  expect(units).toBeLessThan(10_000_000);
});

test("a search among many agents that are spelled alike can pause", () => {
  const many = Array.from({ length: 1000 }, (_, index) => `${"x".repeat(56)}${index}`);
  const crowd = { findAgent: () => undefined, hasPerson: () => false, listAgents: () => many };
  const text = Array.from({ length: 5000 }, (_, index) => `@${"x".repeat(50)}${index}`).join(" ");
  const { units, found, maxPiece } = measure(text, crowd);
  expect(found.unknown).toHaveLength(20);
  expect(maxPiece).toBeLessThan(units / 10);
});
