import { EditorState, type TransactionSpec } from "@codemirror/state";
import { expect, test } from "vitest";
import { wholeLineEnds } from "./line-ends.ts";

/** What becomes of a text when somebody does this to it; the cursor is shown as a bar. */
function after(doc: string, spec: TransactionSpec): string {
  const { state } = EditorState.create({ doc, extensions: [EditorState.lineSeparator.of("\n"), wholeLineEnds] }).update({ userEvent: "input", ...spec });
  const text = state.sliceDoc();
  const { head } = state.selection.main;
  return `${text.slice(0, head)}|${text.slice(head)}`;
}

const typed = (from: number, insert: string): TransactionSpec => ({ changes: { from, insert }, selection: { anchor: from + insert.length } });
const deleted = (from: number, to: number): TransactionSpec => ({ changes: { from, to }, selection: { anchor: from } });

test("where lines end with CR LF, those that are typed, split, joined or pasted do too", () => {
  const text = "one\r\ntwo\r\n";
  // At the end of a line, on either side of the CR.
  expect(after(text, typed(3, "!"))).toBe("one!|\r\ntwo\r\n");
  expect(after(text, typed(4, "!"))).toBe("one!|\r\ntwo\r\n");
  expect(after(text, typed(3, "\n"))).toBe("one\r\n|\r\ntwo\r\n");
  expect(after(text, typed(4, "\n  "))).toBe("one\r\n  |\r\ntwo\r\n");
  expect(after(text, typed(1, "\n"))).toBe("o\r\n|ne\r\ntwo\r\n");
  expect(after(text, typed(10, "a\nb\r\nc\n"))).toBe("one\r\ntwo\r\na\r\nb\r\nc\r\n|");
  // An editor that makes a new line leaves out the white space behind it, and takes the CR for that.
  expect(after(text, { changes: { from: 3, to: 4, insert: "\n" }, selection: { anchor: 4 } })).toBe("one\r\n|\r\ntwo\r\n");
  // Backspace at the beginning of a line, and Delete at the end of one.
  expect(after(text, deleted(4, 5))).toBe("one|two\r\n");
  expect(after(text, deleted(3, 4))).toBe("one|two\r\n");
  expect(after(text, deleted(1, 7))).toBe("o|o\r\n");
  expect(after(text, deleted(5, 10))).toBe("one\r\n|");
  // Two places at once.
  expect(after(text, { changes: [{ from: 3, insert: "!" }, { from: 4, insert: "?" }] })).toBe("|one!?\r\ntwo\r\n");
  expect(after(text, { changes: [{ from: 4, insert: "!" }, { from: 9, insert: "?" }] })).toBe("|one!\r\ntwo?\r\n");
});

test("other texts, and what comes from elsewhere, stay as they are", () => {
  expect(after("one\ntwo\r\n", typed(3, "\n"))).toBe("one\n|\ntwo\r\n");
  expect(after("one", typed(3, "\n"))).toBe("one\n|");
  expect(after("one\r\ntwo", { ...typed(4, "!"), userEvent: undefined as unknown as string })).toBe("one\r!|\ntwo");
});
