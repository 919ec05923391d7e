import { expect, test } from "vitest";
import { validateScript } from "../protocol/script.ts";
import { script } from "./script.ts";

test("a script is validated when it is defined, and parsed as it would be from a file", () => {
  const defined = script(
    [
      { when: "order", steps: [{ call: { tool: "lookupOrder", input: { id: "A1" } } }, { text: "Sent." }] },
      { text: "{{ message }}" },
    ],
    { pace: 5 },
  );
  expect(defined).toEqual({
    pace: 5,
    exchanges: [
      { when: "order", steps: [{ call: { tool: "lookupOrder", input: { id: "A1" } } }, { text: "Sent." }] },
      { steps: [{ text: "{{ message }}" }] },
    ],
  });
  expect(validateScript(JSON.parse(JSON.stringify(defined))).script).toEqual(defined);
});

test("each issue in a script is reported with its path", () => {
  expect(() => script([{ steps: [{ text: "{{ mesage }}" }, { fail: 200 }] }])).toThrow(
    /^Invalid script: 0\.steps\.0\.text: .*mesage.*; 0\.steps\.1\.fail\.status: expected an HTTP status/,
  );
  expect(() => script([])).toThrow("expected at least one exchange");
});
