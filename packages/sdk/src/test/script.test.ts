import { expect, test } from "vitest";
import { validateScript } from "../protocol/script.ts";
import { script } from "./script.ts";

test("a script is read where it is written, in either spelling, and reads the same as a file", () => {
  const written = script(
    [
      { when: "order", steps: [{ call: { tool: "lookupOrder", input: { id: "A1" } } }, { text: "Sent." }] },
      { text: "{{ message }}" },
    ],
    { pace: 5 },
  );
  expect(written).toEqual({
    pace: 5,
    exchanges: [
      { when: "order", steps: [{ call: { tool: "lookupOrder", input: { id: "A1" } } }, { text: "Sent." }] },
      { steps: [{ text: "{{ message }}" }] },
    ],
  });
  expect(validateScript(JSON.parse(JSON.stringify(written))).script).toEqual(written);
});

test("each mistake in a script is named with its place", () => {
  expect(() => script([{ steps: [{ text: "{{ mesage }}" }, { fail: 200 }] }])).toThrow(
    /^The script is not valid at 0\.steps\.0\.text: .*mesage.*; 0\.steps\.1\.fail\.status: expected an HTTP status/,
  );
  expect(() => script([])).toThrow("a script needs an exchange");
});
