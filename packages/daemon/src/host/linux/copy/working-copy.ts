import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { fail, parseFilePath, isThinkeryError } from "@thinkery/sdk";
import {
  decodeFileTransfers,
  encodeFileTransfer,
  planSync,
  type SyncSides,
  type WorkingCopyPlan,
} from "@thinkery/sdk/internal";
import type { FileState } from "../../../folder/file-state.ts";
import { readContent } from "../../../folder/read.ts";
import { scanFolder, type FolderScan } from "../../../folder/scan.ts";
import { removeContent, writeContent } from "../../../folder/write.ts";
import { createYielder } from "../../../folder/yielder.ts";
import type { AgentPlace } from "../provider.ts";
import { type FolderChanges, detectChanges, toTrustedState } from "./folder-changes.ts";
import { type Entry, type Manifest, readManifest, writeManifest } from "./manifest.ts";
import { createNotes, formatTooMuch } from "./notes.ts";
import { isProgramFile } from "./program-files.ts";

/** What comes back from one command, at most. */
export const maxCollected = { files: 2000, bytes: 64 * 1024 * 1024 };
const maxEntries = 100_000;
const noCollection = "none";

/** What was found, and sent, the last time. What is put into the folder later is put over just this. */
interface Collection {
  id: string;
  scan: FolderScan;
  changes: FolderChanges;
  sent: Set<string>;
}

/** A file that main is to send: what it has to be, and what we put it over. */
interface NeededFile {
  hash: string;
  expected: FileState | undefined;
}

/** A version of the workspace, which has some of the changes of a collection in it. */
interface CommittedChanges {
  version: number;
  isCommitted(path: string): boolean;
  collection: Collection;
  manifest: Manifest;
}

/** The files of a workspace as they lie in the folder that an agent's commands work in. */
export class WorkingCopy {
  readonly #place: AgentPlace;
  readonly #file: string;
  readonly #needed = new Map<string, NeededFile>();
  /** Files that were to be put there and could not. */
  #leftCount = 0;
  #manifest: Manifest | undefined;
  #collection: Collection | undefined;

  constructor(place: AgentPlace) {
    this.#place = place;
    this.#file = join(place.metadata, "manifest.json");
  }

  /** Finds what was changed in the folder since it was last brought up to date, and tells it. */
  async collect(largest: number): Promise<AsyncIterable<Uint8Array>> {
    this.#collection = undefined;
    this.#needed.clear();
    const manifest = (this.#manifest ??= await readManifest(this.#file));
    const head = { collection: randomBytes(8).toString("hex"), version: manifest.version, isBehind: manifest.isBehind };
    const scan = await this.#scan(manifest).catch((error: unknown) => {
      if (isThinkeryError(error) && error.code === "too_large") return error.message;
      throw error;
    });
    if (typeof scan === "string") {
      const notes = [
        `${scan} Nothing of it comes into the workspace, and nothing from there comes here, until there are fewer.`,
      ];
      return concatChunks(encodeFileTransfer({ ...head, notes, isStuck: true }), encodeFileTransfer({ end: true }));
    }
    const changes = await detectChanges(this.#place.folder, scan, manifest, { ...maxCollected, largest });
    const notes = createNotes(manifest, changes.untaken);
    if (changes.isTooMuch) notes.push(formatTooMuch(maxCollected));
    if (changes.isNews || notes.length > 0) await writeManifest(this.#file, manifest);
    const collection: Collection = { id: head.collection, scan, changes, sent: new Set() };
    this.#collection = collection;
    return this.#streamChanges({ ...head, notes, isStuck: false }, collection, manifest, largest);
  }

  /** What of this version is not in the folder yet. What is there and should not be goes at once. */
  async plan({ version, files, landed, except = [] }: WorkingCopyPlan): Promise<string[]> {
    // There was no folder to be looked at before.
    if (landed === noCollection) for await (const _ of await this.collect(maxCollected.bytes));
    const collection = this.#collection;
    const manifest = this.#manifest;
    if (!collection || !manifest) throw fail("conflict", "Look at the folder first.");
    if (landed !== noCollection && landed !== collection.id)
      throw fail("conflict", "The folder was looked at again meanwhile.");
    const left = new Set(except);
    const isCommitted = (path: string) => landed !== noCollection && collection.sent.has(path) && !left.has(path);
    this.#needed.clear();
    this.#leftCount = 0;
    const landing: CommittedChanges = { version, isCommitted, collection, manifest };
    if (files) await this.#compare(files, landing);
    else this.#confirm(landing);
    manifest.version = version;
    if (files) manifest.isBehind = this.#leftCount + this.#needed.size > 0;
    await writeManifest(this.#file, manifest);
    return [...this.#needed.keys()];
  }

  /** Puts files there that were asked for. What cannot be is said. */
  async put(body: Buffer, largest: number): Promise<string[]> {
    const manifest = this.#manifest;
    const notes: string[] = [];
    const yieldTurn = createYielder();
    if (!manifest) throw fail("conflict", "Look at the folder first.");
    for await (const { header, bytes } of decodeFileTransfers(yieldOnce(body), largest)) {
      await yieldTurn();
      const path = parseFilePath(String((header as { path?: unknown }).path));
      const needed = this.#needed.get(path);
      const entry = manifest.files.get(path);
      if (!needed || !entry) throw fail("bad_request", "That file was not asked for.");
      this.#needed.delete(path);
      delete entry.next;
      // The workspace went on: the file as it is now is for the next time.
      if (createHash("sha256").update(bytes).digest("hex") !== needed.hash) {
        this.#leftCount++;
        continue;
      }
      const { folder, metadata, owner } = this.#place;
      const written = writeContent(folder, path, bytes, { expected: needed.expected, drafts: metadata, owner });
      if (written === "changed" || "refused" in written) this.#leftCount++;
      if (written === "changed") continue;
      if ("refused" in written) notes.push(`“${path}” could not be brought into the sandbox: ${written.refused}.`);
      else manifest.files.set(path, { hash: needed.hash, base: manifest.version, ...toTrustedState(written.state) });
    }
    manifest.isBehind = this.#leftCount + this.#needed.size > 0;
    await writeManifest(this.#file, manifest);
    return notes;
  }

  async #scan(manifest: Manifest): Promise<FolderScan> {
    return scanFolder(this.#place.folder, {
      known: new Set(manifest.files.keys()),
      isExcluded: isProgramFile,
      maxEntries,
    });
  }

  async *#streamChanges(
    head: object,
    collection: Collection,
    manifest: Manifest,
    largest: number,
  ): AsyncGenerator<Uint8Array> {
    const {
      changes: { changed, read, isTooMuch },
      sent,
    } = collection;
    const getBase = (path: string) => manifest.files.get(path)?.base ?? manifest.version;
    yield* encodeFileTransfer(head);
    if (!isTooMuch) {
      for (const [path, file] of read) {
        const { bytes } = file;
        delete file.bytes;
        const content = bytes ? { ...file, bytes } : await readContent(this.#place.folder, path, largest);
        if (!content || content.hash !== file.hash) continue;
        sent.add(path);
        yield* encodeFileTransfer({ write: path, base: getBase(path) }, content.bytes);
      }
      for (const path of changed.deleted.keys()) {
        sent.add(path);
        yield* encodeFileTransfer({ delete: path, base: getBase(path) });
      }
    }
    yield* encodeFileTransfer({ end: true });
  }

  /** The version is what the folder's was, with what came from there. */
  #confirm({ version, isCommitted, collection: { changes, sent }, manifest }: CommittedChanges): void {
    const { files } = manifest;
    for (const path of sent) {
      if (!isCommitted(path)) continue;
      const file = changes.read.get(path);
      if (file) files.set(path, { hash: file.hash, base: version, ...toTrustedState(file.state) });
      else files.delete(path);
    }
    for (const entry of files.values()) if (entry.base === manifest.version) entry.base = version;
  }

  /** Removes what the version does not have, and notes which of its files main has to send. */
  async #compare(wanted: [path: string, hash: string][], landing: CommittedChanges): Promise<void> {
    const {
      version,
      isCommitted,
      collection: { scan, changes },
      manifest,
    } = landing;
    const { changed, read, unclear, isTooMuch } = changes;
    const { files } = manifest;
    const yieldTurn = createYielder();
    const sides = toSides(wanted, landing);
    const { agreed, steps, skipped } = planSync(sides, (path) => unclear.has(path));
    const getEntry = (path: string): Entry => files.get(path) ?? { base: manifest.version };
    const isOutOfReach = (path: string) => isTooMuch || scan.isHidden(path);
    const leaveFile = (path: string) => {
      if (!sides.there.has(path)) return;
      files.set(path, getEntry(path));
      this.#leftCount++;
    };

    for (const path of agreed) {
      const hash = sides.there.get(path);
      const file = read.get(path);
      const { state } = file ? toTrustedState(file.state) : getEntry(path);
      if (hash !== undefined) files.set(path, { hash, base: version, ...(state ? { state } : {}) });
      else if (!isOutOfReach(path)) files.delete(path);
    }
    for (const path of skipped) leaveFile(path);
    for (const { path, action } of steps) {
      await yieldTurn();
      const hash = sides.there.get(path);
      const expected = read.get(path)?.state ?? scan.files.get(path);
      // What a command changed is kept until the workspace has it.
      if (isOutOfReach(path) || (changed.has(path) && !isCommitted(path))) leaveFile(path);
      else if (action === "fetch" && hash !== undefined) {
        files.set(path, { ...getEntry(path), next: { hash, base: version } });
        this.#needed.set(path, { hash, expected });
      } else if (action === "removeHere" && expected) {
        if (removeContent(this.#place.folder, path, expected) === "removed") files.delete(path);
      }
    }
  }
}

/** The folder's files, the workspace's, and what both had last: a change that has landed is something that both had. */
function toSides(wanted: [path: string, hash: string][], landing: CommittedChanges): SyncSides<string> {
  const {
    isCommitted,
    collection: {
      scan,
      changes: { read },
      sent,
    },
    manifest,
  } = landing;
  const { files } = manifest;
  const here = new Map([...scan.files.keys()].map((path) => [path, read.get(path)?.hash ?? files.get(path)?.hash]));
  // A known path was checked when it came.
  const there = new Map(wanted.map(([path, hash]) => [files.has(path) ? path : parseFilePath(path), hash]));
  const base = new Map([...files].map(([path, { hash }]) => [path, hash]));
  for (const path of sent) if (isCommitted(path)) base.set(path, here.get(path));
  return { base, here, there };
}

/** What is told of a folder that was never made. */
export function createEmptyCollection(): AsyncIterable<Uint8Array> {
  return concatChunks(
    encodeFileTransfer({ collection: noCollection, version: 0, isBehind: false, notes: [], isStuck: false }),
    encodeFileTransfer({ end: true }),
  );
}

async function* concatChunks(...pieces: Uint8Array[][]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield* piece;
}

async function* yieldOnce(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
