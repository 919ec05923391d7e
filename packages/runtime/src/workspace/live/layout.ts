import type { BlobContent, FileContent, TextPatch } from "@thinkery/sdk";
import * as Y from "yjs";
import { createPatch } from "../text/patch.ts";

/** What clients are shown of a file that is kept whole. */
export interface BinaryInfo {
  hash: string;
  size: number;
  mediaType: string;
}

/** How a workspace lies in a document: a text by each path, and beside them what there is that is not text. */
export function getFiles(doc: Y.Doc): Y.Map<Y.Text> {
  return doc.getMap<Y.Text>("files");
}

export function getBinaries(doc: Y.Doc): Y.Map<BinaryInfo> {
  return doc.getMap<BinaryInfo>("binaries");
}

/** What a commit did to a text, for a document that has the text before it. */
interface TextChange {
  before: FileContent | undefined;
  patch?: TextPatch | undefined;
}

/** Makes one file of a document what it is in the rows, with as little change as that takes. */
export function mirrorFile(doc: Y.Doc, path: string, content: FileContent | undefined, change?: TextChange): void {
  const files = getFiles(doc);
  const present: unknown = files.get(path);
  if (typeof content !== "string") {
    if (files.has(path)) files.delete(path);
  } else if (present instanceof Y.Text) {
    applyText(present, content, change);
  } else {
    files.set(path, new Y.Text(content));
  }
  mirrorBinary(getBinaries(doc), path, typeof content === "object" ? content : undefined);
}

function mirrorBinary(binaries: Y.Map<BinaryInfo>, path: string, content: BlobContent | undefined): void {
  if (!content) {
    if (binaries.has(path)) binaries.delete(path);
    return;
  }
  const shown: BinaryInfo = { hash: content.blob, size: content.size, mediaType: content.mediaType };
  if (JSON.stringify(binaries.get(path)) !== JSON.stringify(shown)) binaries.set(path, shown);
}

/** From the end to the beginning, so that the offsets of what is still to come stay right. */
function applyText(text: Y.Text, content: string, change?: TextChange): void {
  const present = text.toString();
  const patch = (change?.before === present ? change.patch : undefined) ?? createPatch(present, content);
  for (const [offset, removed, inserted] of patch.toReversed()) {
    if (removed) text.delete(offset, removed.length);
    if (inserted) text.insert(offset, inserted);
  }
}
