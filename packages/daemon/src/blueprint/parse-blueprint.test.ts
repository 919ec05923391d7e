import { isThinkeryError } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { formatBlueprint, parseBlueprint } from "./parse-blueprint.ts";

function getError(text: string, file = "b.yaml"): string[] {
  try {
    parseBlueprint(file, text);
  } catch (error) {
    if (!isThinkeryError(error) || error.code !== "bad_request") throw error;
    return [error.message, ...(error.details?.issues ?? []).slice(1).map(({ message }) => message)];
  }
  return ["accepted"];
}

test("a blueprint is read from YAML and from JSON, with defaults", () => {
  const expected = { name: "reviewer", prompt: "Be brief.\nReview.", tags: ["default"], description: "" };
  expect(parseBlueprint("b.yaml", "name: reviewer\nprompt: |-\n  Be brief.\n  Review.\n")).toEqual(expected);
  expect(parseBlueprint("b.json", '{ "name": "reviewer", "prompt": "Be brief.\\nReview." }')).toEqual(expected);
});

test("every problem has its line and column, in the order of the file, and unknown keys the nearest name", () => {
  const text = "name: reviewer\npromt: Be brief.\nmodel: gpt\nconfig:\n  hitl:\n    tool: [bash]\n    tools: bash\n";
  expect(getError(text)).toEqual([
    "b.yaml, line 2, column 1: promt: unknown key. Did you mean “prompt”?",
    "expected provider:model, for example anthropic:claude-sonnet-4-5 (line 3, column 8)",
    "unknown key. Did you mean “tools”? (line 6, column 5)",
    "expected a list, got text (line 7, column 12)",
  ]);
});

test.each([
  ["prompt: [", "b.yaml", /^b\.yaml, line 1, column \d+: invalid YAML: /],
  ["{", "b.json", /^b\.json, line 1, column \d+: invalid JSON: /],
  ["prompt: x\n", "b.yaml", /^b\.yaml, line 1, column 1: name: is missing\.$/],
  ["- name: a\n", "b.yaml", /^b\.yaml: expected a blueprint/],
  ["name: a b\n", "b.yaml", /^b\.yaml, line 1, column 7: name: use ASCII letters/],
])("%j is refused", (text, file, message) => {
  expect(getError(text, file)[0]).toMatch(message);
});

test("what is shown can be read again", () => {
  const blueprint = parseBlueprint(
    "b.yaml",
    'name: x\nprompt: "a\\nb: c\\n"\ntags: [a, default]\nconfig: { policy: [{ tool: bash, action: ask }] }\n',
  );
  const shown = formatBlueprint({ ...blueprint, source: "dynamic", warnings: ["odd"] });
  expect(shown).not.toMatch(/source|odd/);
  expect(parseBlueprint("b.yaml", shown)).toEqual(blueprint);
});
