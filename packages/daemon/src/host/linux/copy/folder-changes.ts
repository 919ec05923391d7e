import { foldPathCase, listParentFolders } from "@thinkery/sdk";
import { FileDiff } from "@thinkery/sdk/internal";
import { type FileState, isFresh, isSameState } from "../../../folder/file-state.ts";
import { readSettled } from "../../../folder/read.ts";
import type { FolderScan, SkippedFile } from "../../../folder/scan.ts";
import { createYielder } from "../../../folder/yielder.ts";
import type { Manifest } from "./manifest.ts";

/** A file of the folder as it was read. */
interface ReadFile {
  hash: string;
  state: FileState;
  /** Left out if it is large; it is read again when it is sent. */
  bytes?: Buffer;
}

export interface FolderChanges {
  /** What changed since the files were put there, by their hashes. */
  changed: FileDiff<string>;
  /** Those that were added or edited. */
  read: Map<string, ReadFile>;
  untaken: SkippedFile[];
  /** Files that are there and cannot be told, and that nothing may be put over. */
  unclear: Set<string>;
  /** What changed is more than may come back at once. */
  isTooMuch: boolean;
  /** Was something learned that the manifest should remember? */
  isNews: boolean;
}

export interface CollectLimits {
  files: number;
  bytes: number;
  /** Of one file. */
  largest: number;
}

/** So much content is kept until it is sent; the rest is read again then. */
const maxBufferedBytes = 8 * 1024 * 1024;

/** Compares what lies in the folder with what was put there. */
export async function detectChanges(
  folder: string,
  look: FolderScan,
  manifest: Manifest,
  most: CollectLimits,
): Promise<FolderChanges> {
  const changes: FolderChanges = {
    changed: new FileDiff(),
    read: new Map(),
    untaken: [...look.untaken],
    unclear: new Set(),
    isTooMuch: false,
    isNews: false,
  };
  const { changed, read, unclear } = changes;
  const collisions = findCaseCollisions(look, manifest);
  const yieldTurn = createYielder();
  let bytes = 0;

  for (const [path, state] of look.files) {
    await yieldTurn();
    const entry = manifest.files.get(path);
    if (entry?.hash !== undefined && isSameState(entry.state, state)) continue;
    const skipFile = (why?: string) => {
      unclear.add(path);
      if (why) changes.untaken.push({ path, why });
    };
    const collision = collisions.get(path);
    if (collision !== undefined) {
      skipFile(`“${collision}” differs from it by upper and lower case alone`);
      continue;
    }
    if (state.size > most.largest) {
      skipFile(`it is larger than ${Math.floor(most.largest / 1024 / 1024)} MB`);
      continue;
    }
    const content = await readSettled(folder, path, most.largest);
    // One that is being written comes when it is written.
    if (!content || content === "moving") {
      skipFile(content ? undefined : "it cannot be read");
      continue;
    }
    const { hash } = content;
    // After a crash, what we were about to put there may be there.
    const base = entry?.next?.hash === hash ? entry.next : entry;
    if (changed.record(path, base?.hash, hash)) {
      bytes += content.bytes.length;
      read.set(path, { hash, state: content.state, ...(bytes <= maxBufferedBytes ? { bytes: content.bytes } : {}) });
      changes.isTooMuch = changed.size > most.files || bytes > most.bytes;
      if (changes.isTooMuch) return changes;
    } else if (base) {
      manifest.files.set(path, { ...base, ...toTrustedState(content.state) });
      changes.isNews = true;
    }
  }

  for (const [path, { hash }] of manifest.files) {
    if (!look.files.has(path) && !look.isHidden(path)) changed.record(path, hash, undefined);
  }
  changes.isTooMuch = changed.size > most.files;
  return changes;
}

/** A state that a later write could have left as it is says nothing: such a file is read again the next time. */
export function toTrustedState(state: FileState): { state?: FileState } {
  return isFresh(state, Date.now()) ? {} : { state };
}

/** Files that a workspace could not hold beside others, by the other one: those that are known go first. */
function findCaseCollisions({ files }: FolderScan, manifest: Manifest): Map<string, string> {
  const spelled = new Map<string, string>();
  const collisions = new Map<string, string>();
  const isKnown = (path: string) => manifest.files.get(path)?.hash !== undefined;
  const all = [...files.keys()];
  const fresh = all.filter((path) => !isKnown(path)).sort();
  if (fresh.length === 0) return collisions;
  for (const path of [...all.filter(isKnown), ...fresh]) {
    const parts = [...listParentFolders(path), path];
    const collision = parts
      .map((part) => [part, spelled.get(foldPathCase(part))] as const)
      .find(([part, other]) => other !== undefined && other !== part);
    if (collision && !isKnown(path)) collisions.set(path, collision[1] as string);
    else for (const part of parts) spelled.set(foldPathCase(part), part);
  }
  return collisions;
}
