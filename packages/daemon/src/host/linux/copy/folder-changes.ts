import { foldPathCase, listParentFolders } from "@thinkery/sdk";
import { FileDiff } from "@thinkery/sdk/internal";
import { type FileState, isFresh, isSameState } from "../../../folder/file-state.ts";
import { readSettled } from "../../../folder/read.ts";
import type { FolderScan, SkippedFile } from "../../../folder/scan.ts";
import { createYielder } from "../../../folder/yielder.ts";
import type { Manifest } from "./manifest.ts";

/** A file of the folder, as read. */
interface ReadFile {
  hash: string;
  state: FileState;
  /** Absent if it does not fit in memory; it is then read again when sent. */
  bytes?: Buffer;
}

export interface FolderChanges {
  /** Changes since the files were written there, by hash. */
  changed: FileDiff<string>;
  /** The added and edited files. */
  read: Map<string, ReadFile>;
  skipped: SkippedFile[];
  /** Files whose content is unknown; they must not be overwritten. */
  unclear: Set<string>;
  /** There are more changes than can be collected at once. */
  isTooMuch: boolean;
  /** The manifest was updated and should be written. */
  hasManifestChanges: boolean;
}

export interface CollectLimits {
  files: number;
  bytes: number;
  maxFileBytes: number;
}

/** Content kept in memory until it is sent; the rest is read again then. */
const maxBufferedBytes = 8 * 1024 * 1024;

/** Compares the files in the folder with those that were written there. */
export async function detectChanges(
  folder: string,
  scan: FolderScan,
  manifest: Manifest,
  limits: CollectLimits,
): Promise<FolderChanges> {
  const changes: FolderChanges = {
    changed: new FileDiff(),
    read: new Map(),
    skipped: [...scan.skipped],
    unclear: new Set(),
    isTooMuch: false,
    hasManifestChanges: false,
  };
  const { changed, read, unclear } = changes;
  const collisions = findCaseCollisions(scan, manifest);
  const yieldTurn = createYielder();
  let bytes = 0;

  for (const [path, state] of scan.files) {
    await yieldTurn();
    const entry = manifest.files.get(path);
    if (entry?.hash !== undefined && isSameState(entry.state, state)) continue;
    const skipFile = (reason?: string) => {
      unclear.add(path);
      if (reason) changes.skipped.push({ path, reason });
    };
    const collision = collisions.get(path);
    if (collision !== undefined) {
      skipFile(`its path differs from “${collision}” only in case`);
      continue;
    }
    if (state.size > limits.maxFileBytes) {
      skipFile(`it is larger than ${Math.floor(limits.maxFileBytes / 1024 / 1024)} MB`);
      continue;
    }
    const content = await readSettled(folder, path, limits.maxFileBytes);
    // A file that is being written is collected the next time.
    if (!content || content === "moving") {
      skipFile(content ? undefined : "it cannot be read");
      continue;
    }
    const { hash } = content;
    // After a crash, the file we were about to write may be there.
    const base = entry?.next?.hash === hash ? entry.next : entry;
    if (changed.record(path, base?.hash, hash)) {
      bytes += content.bytes.length;
      read.set(path, { hash, state: content.state, ...(bytes <= maxBufferedBytes ? { bytes: content.bytes } : {}) });
      changes.isTooMuch = changed.size > limits.files || bytes > limits.bytes;
      if (changes.isTooMuch) return changes;
    } else if (base) {
      manifest.files.set(path, { ...base, ...toTrustedState(content.state) });
      changes.hasManifestChanges = true;
    }
  }

  for (const [path, { hash }] of manifest.files) {
    if (!scan.files.has(path) && !scan.isHidden(path)) changed.record(path, hash, undefined);
  }
  changes.isTooMuch = changed.size > limits.files;
  return changes;
}

/** Drops a state that a later write might not change; such a file is read again the next time. */
export function toTrustedState(state: FileState): { state?: FileState } {
  return isFresh(state, Date.now()) ? {} : { state };
}

/** Maps files whose path differs from another one only in case to that other one. Known files take precedence. */
function findCaseCollisions({ files }: FolderScan, manifest: Manifest): Map<string, string> {
  const byFoldedPath = new Map<string, string>();
  const collisions = new Map<string, string>();
  const isKnown = (path: string) => manifest.files.get(path)?.hash !== undefined;
  const all = [...files.keys()];
  const added = all.filter((path) => !isKnown(path)).sort();
  if (added.length === 0) return collisions;
  for (const path of [...all.filter(isKnown), ...added]) {
    const parts = [...listParentFolders(path), path];
    const collision = parts
      .map((part) => [part, byFoldedPath.get(foldPathCase(part))] as const)
      .find(([part, other]) => other !== undefined && other !== part);
    if (collision && !isKnown(path)) collisions.set(path, collision[1] as string);
    else for (const part of parts) byFoldedPath.set(foldPathCase(part), part);
  }
  return collisions;
}
