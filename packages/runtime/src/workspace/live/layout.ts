import type { BlobContent, FileContent, TextPatch } from "@thinkery/sdk";
import * as Y from "yjs";
import { createPatch } from "../text/patch.ts";

/** What clients see of a binary file. */
export interface BinaryInfo {
  hash: string;
  size: number;
  mediaType: string;
}

/** Text files by path. The document has two maps: these, and the metadata of binary files. */
export function getFiles(doc: Y.Doc): Y.Map<Y.Text> {
  return doc.getMap<Y.Text>("files");
}

export function getBinaries(doc: Y.Doc): Y.Map<BinaryInfo> {
  return doc.getMap<BinaryInfo>("binaries");
}

/** A committed change, for a document that has the text before it. */
interface TextChange {
  before: FileContent | undefined;
  patch?: TextPatch | undefined;
}

/** Updates one file of a document to its stored content, with the smallest possible edit. */
export function mirrorFile(doc: Y.Doc, path: string, content: FileContent | undefined, change?: TextChange): void {
  const files = getFiles(doc);
  const current: unknown = files.get(path);
  if (typeof content !== "string") {
    if (files.has(path)) files.delete(path);
  } else if (current instanceof Y.Text) {
    applyText(current, content, change);
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
  const info: BinaryInfo = { hash: content.blob, size: content.size, mediaType: content.mediaType };
  if (JSON.stringify(binaries.get(path)) !== JSON.stringify(info)) binaries.set(path, info);
}

/** Applies the pieces from last to first, so that earlier offsets stay valid. */
function applyText(text: Y.Text, content: string, change?: TextChange): void {
  const current = text.toString();
  const patch = (change?.before === current ? change.patch : undefined) ?? createPatch(current, content);
  for (const [offset, removed, inserted] of patch.toReversed()) {
    if (removed) text.delete(offset, removed.length);
    if (inserted) text.insert(offset, inserted);
  }
}
