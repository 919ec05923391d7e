import { type ChangeSpec, EditorState, type Extension, type Text, Transaction } from "@codemirror/state";

/**
 * In a text whose lines end with CR LF, what somebody types leaves no half of one behind: a new line ends as the others
 * do, and what is typed behind the CR goes before it. What comes from elsewhere is taken as it is.
 */
export const lineEndingFilter: Extension = EditorState.transactionFilter.of((given) => {
  const { doc } = given.startState;
  const isTyped = given.docChanged && given.annotation(Transaction.userEvent) !== undefined;
  if (!isTyped || doc.lines === 1 || !doc.line(1).text.endsWith("\r")) return given;
  const changes = repairLineEndings(given);
  return changes.length === 0 ? given : [given, { changes, sequential: true }];
});

function repairLineEndings({ startState: { doc: before }, newDoc, changes }: Transaction): ChangeSpec[] {
  // By their places: two changes that lie side by side have the same neighbours.
  const mends = new Map<number, ChangeSpec>();
  changes.iterChanges((fromA, toA, fromB, toB) => {
    // The CR was deleted, and nothing came in its place: its LF is meant too.
    const isCut =
      toA > fromA &&
      toB === fromB &&
      before.sliceString(toA - 1, toA + 1) === "\r\n" &&
      getChar(newDoc, toB) === "\n" &&
      getChar(newDoc, toB - 1) !== "\r";
    if (isCut) mends.set(toB, { from: toB, to: toB + 1 });
    const from = Math.max(0, fromB - 1);
    const near = newDoc.sliceString(from, toB + 1);
    for (const { 0: end, index } of near.matchAll(/\r(?!\n)|(?<!\r)\n/g)) {
      const place = from + index;
      // Beyond what was changed, half of one is none of our business; nor is one whose other half is out of sight.
      if (end === "\r" && getChar(newDoc, place + 1) !== "\n") mends.set(place, { from: place, to: place + 1 });
      if (end === "\n" && getChar(newDoc, place - 1) !== "\r" && !mends.has(place))
        mends.set(place, { from: place, insert: "\r" });
    }
  });
  return [...mends.values()];
}

function getChar(doc: Text, place: number): string {
  return place < 0 ? "" : doc.sliceString(place, place + 1);
}
