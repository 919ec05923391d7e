import { expect, test } from "vitest";
import { parsePerson, personColors } from "./people.ts";

test("awareness states of any shape are parsed safely", () => {
  expect(parsePerson(3, { user: { name: " ann ", color: personColors[5] }, path: "a.md" })).toEqual({
    id: 3,
    name: "ann",
    tone: 5,
    path: "a.md",
  });
  for (const odd of [
    undefined,
    null,
    7,
    "x",
    [],
    {},
    { user: 1 },
    { user: { name: "" } },
    { user: { name: {}, color: "red; } body { display: none" } },
  ]) {
    expect(parsePerson(11, odd)).toEqual({ id: 11, name: "anonymous", tone: 11 % personColors.length });
  }
});

test("names are truncated and sanitized", () => {
  const { name } = parsePerson(1, { user: { name: `\u202eevil\u0007${"x".repeat(500)}` } });
  expect(name.length).toBe(40);
  for (const character of "\u202e\u0007") expect(name).not.toContain(character);
});
