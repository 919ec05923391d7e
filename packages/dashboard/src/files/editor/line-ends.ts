import { type ChangeSpec, EditorState, type Extension, type Text, Transaction } from "@codemirror/state";

/**
 * In a text with CR LF line endings, typing leaves no incomplete ones: new lines end with CR LF, and text typed after a
 * CR goes before it. Remote edits are applied unchanged.
 */
export const lineEndingFilter: Extension = EditorState.transactionFilter.of((transaction) => {
  const { doc } = transaction.startState;
  const isTyped = transaction.docChanged && transaction.annotation(Transaction.userEvent) !== undefined;
  if (!isTyped || doc.lines === 1 || !doc.line(1).text.endsWith("\r")) return transaction;
  const changes = repairLineEndings(transaction);
  return changes.length === 0 ? transaction : [transaction, { changes, sequential: true }];
});

function repairLineEndings({ startState: { doc: before }, newDoc, changes }: Transaction): ChangeSpec[] {
  // Keyed by position, because adjacent changes share their neighbors.
  const repairs = new Map<number, ChangeSpec>();
  changes.iterChanges((fromA, toA, fromB, toB) => {
    // The CR was deleted without a replacement: delete its LF, too.
    const isCrDeleted =
      toA > fromA &&
      toB === fromB &&
      before.sliceString(toA - 1, toA + 1) === "\r\n" &&
      getChar(newDoc, toB) === "\n" &&
      getChar(newDoc, toB - 1) !== "\r";
    if (isCrDeleted) repairs.set(toB, { from: toB, to: toB + 1 });
    const from = Math.max(0, fromB - 1);
    const surroundings = newDoc.sliceString(from, toB + 1);
    for (const { 0: end, index } of surroundings.matchAll(/\r(?!\n)|(?<!\r)\n/g)) {
      const position = from + index;
      // The other half may be just outside of the surroundings; the line ending is complete then.
      if (end === "\r" && getChar(newDoc, position + 1) !== "\n")
        repairs.set(position, { from: position, to: position + 1 });
      if (end === "\n" && getChar(newDoc, position - 1) !== "\r" && !repairs.has(position))
        repairs.set(position, { from: position, insert: "\r" });
    }
  });
  return [...repairs.values()];
}

function getChar(doc: Text, position: number): string {
  return position < 0 ? "" : doc.sliceString(position, position + 1);
}
