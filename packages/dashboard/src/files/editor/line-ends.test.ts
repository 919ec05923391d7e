import { EditorState, type TransactionSpec } from "@codemirror/state";
import { expect, test } from "vitest";
import { lineEndingFilter } from "./line-ends.ts";

/** Returns the text after an edit, with the cursor shown as a bar. */
function applyEdit(doc: string, spec: TransactionSpec): string {
  const { state } = EditorState.create({
    doc,
    extensions: [EditorState.lineSeparator.of("\n"), lineEndingFilter],
  }).update({ userEvent: "input", ...spec });
  const text = state.sliceDoc();
  const { head } = state.selection.main;
  return `${text.slice(0, head)}|${text.slice(head)}`;
}

const createInsert = (from: number, insert: string): TransactionSpec => ({
  changes: { from, insert },
  selection: { anchor: from + insert.length },
});
const createDelete = (from: number, to: number): TransactionSpec => ({
  changes: { from, to },
  selection: { anchor: from },
});

test("in a CR LF text, typed, split, joined and pasted lines end with CR LF", () => {
  const text = "one\r\ntwo\r\n";
  // At the end of a line, on either side of the CR.
  expect(applyEdit(text, createInsert(3, "!"))).toBe("one!|\r\ntwo\r\n");
  expect(applyEdit(text, createInsert(4, "!"))).toBe("one!|\r\ntwo\r\n");
  expect(applyEdit(text, createInsert(3, "\n"))).toBe("one\r\n|\r\ntwo\r\n");
  expect(applyEdit(text, createInsert(4, "\n  "))).toBe("one\r\n  |\r\ntwo\r\n");
  expect(applyEdit(text, createInsert(1, "\n"))).toBe("o\r\n|ne\r\ntwo\r\n");
  expect(applyEdit(text, createInsert(10, "a\nb\r\nc\n"))).toBe("one\r\ntwo\r\na\r\nb\r\nc\r\n|");
  // On a new line the editor removes trailing whitespace, which includes the CR.
  expect(applyEdit(text, { changes: { from: 3, to: 4, insert: "\n" }, selection: { anchor: 4 } })).toBe(
    "one\r\n|\r\ntwo\r\n",
  );
  // Backspace at the start of a line, and Delete at the end of one.
  expect(applyEdit(text, createDelete(4, 5))).toBe("one|two\r\n");
  expect(applyEdit(text, createDelete(3, 4))).toBe("one|two\r\n");
  expect(applyEdit(text, createDelete(1, 7))).toBe("o|o\r\n");
  expect(applyEdit(text, createDelete(5, 10))).toBe("one\r\n|");
  // Two positions at once.
  expect(
    applyEdit(text, {
      changes: [
        { from: 3, insert: "!" },
        { from: 4, insert: "?" },
      ],
    }),
  ).toBe("|one!?\r\ntwo\r\n");
  expect(
    applyEdit(text, {
      changes: [
        { from: 4, insert: "!" },
        { from: 9, insert: "?" },
      ],
    }),
  ).toBe("|one!\r\ntwo?\r\n");
});

test("other texts and remote edits are left unchanged", () => {
  expect(applyEdit("one\ntwo\r\n", createInsert(3, "\n"))).toBe("one\n|\ntwo\r\n");
  expect(applyEdit("one", createInsert(3, "\n"))).toBe("one\n|");
  expect(applyEdit("one\r\ntwo", { ...createInsert(4, "!"), userEvent: undefined as unknown as string })).toBe(
    "one\r!|\ntwo",
  );
});
