import { standardSettings } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { describeSetting, parseSettings } from "./setting-arguments.ts";

const schema = {
  ...standardSettings,
  loud: { type: "toggle", default: false },
  prompt: { type: "text", maxLength: 10 },
  count: { type: "number", min: 0 },
} as const;

const parse = (assignments: string[], names: string[] = []) => parseSettings(schema, assignments, names);

const getErrors = (assignments: string[], names: string[] = []) => {
  try {
    return parse(assignments, names);
  } catch (error) {
    const { message, details } = error as {
      message: string;
      details?: { issues: { path: string[]; message: string }[] };
    };
    return details?.issues.map((issue) => `${issue.path[0]}: ${issue.message}`) ?? message;
  }
};

test("values are parsed by the type of their setting", () => {
  expect(parse(["temperature=0.2", "model=primary", "loud=on", "prompt=a=b\nc"], ["maxSteps"])).toEqual({
    temperature: 0.2,
    model: "primary",
    loud: true,
    prompt: "a=b\nc",
    maxSteps: null,
  });
  expect(parse(["loud=No", "prompt="])).toEqual({ loud: false, prompt: "" });
});

test("every invalid value is named, with what is allowed", () => {
  expect(getErrors(["temperature=3", "maxSteps=1.5", "model=best", "loud=2", "prompt=12345678901", "count=x"])).toEqual(
    [
      "temperature: expected at most 2, not 3 (0 to 2, in steps of 0.1)",
      "maxSteps: expected a multiple of 1 (1 to 20, in steps of 1)",
      "model: expected one of primary, fast, summarizer, vision",
      "loud: expected true or false",
      "prompt: expected at most 10 characters, not 11",
      "count: expected a number (at least 0)",
    ],
  );
  expect(getErrors(["count="])).toEqual(["count: expected a number (at least 0)"]);
  expect(() => parse(["temperature=3"])).toThrow("Invalid setting temperature: expected at most 2, not 3");
});

test("unknown settings get a suggestion, and what is not a setting an example", () => {
  expect(getErrors(["temprature=1"], ["xyz"])).toEqual([
    "temprature: unknown setting; did you mean temperature?",
    expect.stringContaining("xyz: unknown setting; there are model, temperature"),
  ]);
  expect(getErrors(["toString=1"])).toEqual([expect.stringContaining("unknown setting")]);
  expect(getErrors(["temperature"])).toBe("“temperature” is not a setting; write name=value.");
  expect(getErrors(["=1"])).toContain("is not a setting");
  expect(getErrors(["loud=on"], ["loud"])).toEqual(["loud: is set and unset at once"]);
});

test("settings are described by what they may be", () => {
  expect(describeSetting({ type: "number" })).toBe("a number");
  expect(describeSetting({ type: "number", max: 5 })).toBe("at most 5");
  expect(describeSetting({ type: "text" })).toBe("text");
  expect(describeSetting({ type: "select", options: ["a", { value: "b", label: "B" }] })).toBe("a, b");
});
