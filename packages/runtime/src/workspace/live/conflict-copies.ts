import * as Y from "yjs";
import { getFiles } from "./layout.ts";
import { isOwnId } from "./live-store.ts";
import { iterateNewItems } from "./new-items.ts";
import { type UpdateValidation, getSurvivingText } from "./validate-update.ts";

/** Text that somebody typed and that has no place, because somebody else made a file at the same path, or deleted or moved the file. */
export interface ConflictCopy {
  path: string;
  text: string;
}

/** A few last keys that cross a deletion are not worth a file. */
const minOrphanedChars = 20;

/**
 * What of an update that has just been applied Yjs has thrown away: of two entries that were made for one path without
 * knowing of each other, it keeps one; and what was typed into a text that is gone is gone. To be asked within the
 * transaction, after which nothing is left of them. What whoever sent the update has deleted is meant to be gone.
 */
export function findConflictCopies(
  doc: Y.Doc,
  before: Map<number, number>,
  { clients, deleted, orphaned }: UpdateValidation,
): ConflictCopy[] {
  // Somebody has an older document than this one, with all that it ever was: nothing of that is new.
  if ([...clients].some(isOwnId)) return [];
  const files: unknown = getFiles(doc);
  const conflictCopies: ConflictCopy[] =
    orphaned.length < minOrphanedChars ? [] : [{ path: "unplaced.txt", text: orphaned }];
  for (const { deleted: isGone, parent, parentSub, content } of iterateNewItems(doc, before, clients)) {
    if (!isGone || parent !== files || parentSub === null) continue;
    const text =
      content instanceof Y.ContentType && content.type instanceof Y.Text
        ? getSurvivingTextOf(content.type, deleted)
        : "";
    if (text !== "") conflictCopies.push({ path: parentSub, text });
  }
  return conflictCopies;
}

/** What was in a text that is thrown away as a whole, but for what its author has deleted, be it all of it. */
function getSurvivingTextOf(type: Y.Text, deleted: UpdateValidation["deleted"]): string {
  let text = "";
  for (let item = type._start; item; item = item.right) text += getSurvivingText(item, deleted);
  return text;
}
