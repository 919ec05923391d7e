import * as Y from "yjs";
import { getFiles } from "./layout.ts";
import { isOwnId } from "./live-store.ts";
import { iterateNewItems } from "./new-items.ts";
import { type UpdateValidation, getSurvivingText } from "./validate-update.ts";

/** Text a user typed that has no file, because someone else created, deleted or moved the file at that path. */
export interface ConflictCopy {
  path: string;
  text: string;
}

/** Less text, such as the last keystrokes before a deletion, is not worth a file. */
const minOrphanedChars = 20;

/**
 * Returns the text of an applied update that Yjs has discarded: of two concurrent entries for one path it keeps one, and
 * text typed into a deleted file is lost. Must be called within the transaction, after which that text is gone. Text
 * that the sender of the update deleted is not included.
 */
export function findConflictCopies(
  doc: Y.Doc,
  before: Map<number, number>,
  { clients, deleted, orphaned }: UpdateValidation,
): ConflictCopy[] {
  // The sender has an older incarnation of this document with its whole history: nothing in it is new.
  if ([...clients].some(isOwnId)) return [];
  const files: unknown = getFiles(doc);
  const copies: ConflictCopy[] = orphaned.length < minOrphanedChars ? [] : [{ path: "unplaced.txt", text: orphaned }];
  for (const { deleted: isDeleted, parent, parentSub, content } of iterateNewItems(doc, before, clients)) {
    if (!isDeleted || parent !== files || parentSub === null) continue;
    const text =
      content instanceof Y.ContentType && content.type instanceof Y.Text
        ? getSurvivingTextOf(content.type, deleted)
        : "";
    if (text !== "") copies.push({ path: parentSub, text });
  }
  return copies;
}

/** Returns the content of a discarded text, without what its author deleted. */
function getSurvivingTextOf(type: Y.Text, deleted: UpdateValidation["deleted"]): string {
  let text = "";
  for (let item = type._start; item; item = item.right) text += getSurvivingText(item, deleted);
  return text;
}
