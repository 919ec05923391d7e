import { expect, test } from "vitest";
import { findMentions } from "./mentions.ts";

const agents = ["kimi", "kimi-code", "dr.who", "Lead"];
const names = {
  findAgent: (name: string) => agents.find((agent) => agent.toLowerCase() === name.toLowerCase()),
  hasPerson: (name: string) => name === "ann",
  listAgents: () => agents,
};

const find = (text: string) => findMentions(text, names);

test("agents are mentioned by their whole names, in any case and once", () => {
  expect(find("@kimi-code and @dr.who, @lead. @LEAD!").agents).toEqual(["kimi-code", "dr.who", "Lead"]);
  expect(find("(@kimi) «@dr.who.»")).toEqual({ agents: ["kimi", "dr.who"], unknown: [] });
});

test("addresses, paths and code mention nobody", () => {
  expect(find("a@kimi b/@kimi `@kimi` ```\n@kimi\n``` ``` @kimi @@kimi")).toEqual({ agents: [], unknown: [] });
});

test("a mention of nobody is reported with the nearest agent, and people are somebody", () => {
  expect(find("@laed, @zebra and @ann")).toEqual({
    agents: [],
    unknown: [{ name: "laed", suggestion: "Lead" }, { name: "zebra" }],
  });
});
