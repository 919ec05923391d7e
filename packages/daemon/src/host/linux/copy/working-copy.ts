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
import type { AgentStorage } from "../provider.ts";
import { type FolderChanges, detectChanges, toTrustedState } from "./folder-changes.ts";
import { type Entry, type Manifest, readManifest, writeManifest } from "./manifest.ts";
import { createNotes, formatTooMuch } from "./notes.ts";
import { isProgramFile } from "./program-files.ts";

/** Maximum changes collected after one command. */
export const maxCollected = { files: 2000, bytes: 64 * 1024 * 1024 };
const maxEntries = 100_000;
const noCollection = "none";

/** The result of the last collection. Files written later may only replace what it found. */
interface Collection {
  id: string;
  scan: FolderScan;
  changes: FolderChanges;
  sent: Set<string>;
}

/** A file that main has to send: its hash, and the state of the file it replaces. */
interface NeededFile {
  hash: string;
  expected: FileState | undefined;
}

/** A version of the workspace that includes some of the changes of a collection. */
interface CommittedChanges {
  version: number;
  isCommitted(path: string): boolean;
  collection: Collection;
  manifest: Manifest;
}

/** The files of a workspace in the folder that an agent's commands work in. */
export class WorkingCopy {
  readonly #storage: AgentStorage;
  readonly #file: string;
  readonly #needed = new Map<string, NeededFile>();
  /** Number of files that could not be written. */
  #unwrittenCount = 0;
  #manifest: Manifest | undefined;
  #collection: Collection | undefined;

  constructor(storage: AgentStorage) {
    this.#storage = storage;
    this.#file = join(storage.metadata, "manifest.json");
  }

  /** Finds and returns the changes in the folder since it was last updated. */
  async collect(maxFileBytes: number): Promise<AsyncIterable<Uint8Array>> {
    this.#collection = undefined;
    this.#needed.clear();
    const manifest = (this.#manifest ??= await readManifest(this.#file));
    const head = { collection: randomBytes(8).toString("hex"), version: manifest.version, isBehind: manifest.isBehind };
    const scan = await this.#scan(manifest).catch((error: unknown) => {
      if (isThinkeryError(error) && error.code === "too_large") return error.message;
      throw error;
    });
    if (typeof scan === "string") {
      const notes = [`${scan} Until there are fewer, nothing is copied between the sandbox and the workspace.`];
      return concatChunks(encodeFileTransfer({ ...head, notes, isStuck: true }), encodeFileTransfer({ end: true }));
    }
    const changes = await detectChanges(this.#storage.folder, scan, manifest, { ...maxCollected, maxFileBytes });
    const notes = createNotes(manifest, changes.skipped);
    if (changes.isTooMuch) notes.push(formatTooMuch(maxCollected));
    if (changes.hasManifestChanges || notes.length > 0) await writeManifest(this.#file, manifest);
    const collection: Collection = { id: head.collection, scan, changes, sent: new Set() };
    this.#collection = collection;
    return this.#streamChanges({ ...head, notes, isStuck: false }, collection, manifest, maxFileBytes);
  }

  /** Returns the files of this version that are not in the folder yet, and removes those that should not be there. */
  async plan({ version, files, committed, except = [] }: WorkingCopyPlan): Promise<string[]> {
    // There was no folder to collect from before.
    if (committed === noCollection) for await (const _ of await this.collect(maxCollected.bytes));
    const collection = this.#collection;
    const manifest = this.#manifest;
    if (!collection || !manifest) throw fail("conflict", "Collect the changes of the folder first.");
    if (committed !== noCollection && committed !== collection.id)
      throw fail("conflict", "The changes of the folder were collected again in the meantime.");
    const uncommitted = new Set(except);
    const isCommitted = (path: string) =>
      committed !== noCollection && collection.sent.has(path) && !uncommitted.has(path);
    this.#needed.clear();
    this.#unwrittenCount = 0;
    const changes: CommittedChanges = { version, isCommitted, collection, manifest };
    if (files) await this.#compare(files, changes);
    else this.#confirm(changes);
    manifest.version = version;
    if (files) manifest.isBehind = this.#unwrittenCount + this.#needed.size > 0;
    await writeManifest(this.#file, manifest);
    return [...this.#needed.keys()];
  }

  /** Writes the files that `plan` requested. Returns notes about those that could not be written. */
  async put(body: Buffer, maxFileBytes: number): Promise<string[]> {
    const manifest = this.#manifest;
    const notes: string[] = [];
    const yieldTurn = createYielder();
    if (!manifest) throw fail("conflict", "Collect the changes of the folder first.");
    for await (const { header, bytes } of decodeFileTransfers(yieldOnce(body), maxFileBytes)) {
      await yieldTurn();
      const path = parseFilePath(String((header as { path?: unknown }).path));
      const needed = this.#needed.get(path);
      const entry = manifest.files.get(path);
      if (!needed || !entry) throw fail("bad_request", "This file was not requested.");
      this.#needed.delete(path);
      delete entry.next;
      // The workspace has changed since; the new content is copied the next time.
      if (createHash("sha256").update(bytes).digest("hex") !== needed.hash) {
        this.#unwrittenCount++;
        continue;
      }
      const { folder, metadata, owner } = this.#storage;
      const written = writeContent(folder, path, bytes, { expected: needed.expected, drafts: metadata, owner });
      if (written === "changed" || "refused" in written) this.#unwrittenCount++;
      if (written === "changed") continue;
      if ("refused" in written) notes.push(`“${path}” could not be copied to the sandbox: ${written.refused}.`);
      else manifest.files.set(path, { hash: needed.hash, base: manifest.version, ...toTrustedState(written.state) });
    }
    manifest.isBehind = this.#unwrittenCount + this.#needed.size > 0;
    await writeManifest(this.#file, manifest);
    return notes;
  }

  async #scan(manifest: Manifest): Promise<FolderScan> {
    return scanFolder(this.#storage.folder, {
      known: new Set(manifest.files.keys()),
      isExcluded: isProgramFile,
      maxEntries,
    });
  }

  async *#streamChanges(
    head: object,
    collection: Collection,
    manifest: Manifest,
    maxFileBytes: number,
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
        const content = bytes ? { ...file, bytes } : await readContent(this.#storage.folder, path, maxFileBytes);
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

  /** Handles a version that is the folder's version plus the changes collected from it. */
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

  /** Removes files that are not in the version, and records which of its files main has to send. */
  async #compare(wanted: [path: string, hash: string][], committed: CommittedChanges): Promise<void> {
    const {
      version,
      isCommitted,
      collection: { scan, changes },
      manifest,
    } = committed;
    const { changed, read, unclear, isTooMuch } = changes;
    const { files } = manifest;
    const yieldTurn = createYielder();
    const sides = toSides(wanted, committed);
    const { agreed, steps, skipped } = planSync(sides, (path) => unclear.has(path));
    const getEntry = (path: string): Entry => files.get(path) ?? { base: manifest.version };
    const isInaccessible = (path: string) => isTooMuch || scan.isHidden(path);
    const leaveFile = (path: string) => {
      if (!sides.there.has(path)) return;
      files.set(path, getEntry(path));
      this.#unwrittenCount++;
    };

    for (const path of agreed) {
      const hash = sides.there.get(path);
      const file = read.get(path);
      const { state } = file ? toTrustedState(file.state) : getEntry(path);
      if (hash !== undefined) files.set(path, { hash, base: version, ...(state ? { state } : {}) });
      else if (!isInaccessible(path)) files.delete(path);
    }
    for (const path of skipped) leaveFile(path);
    for (const { path, action } of steps) {
      await yieldTurn();
      const hash = sides.there.get(path);
      const expected = read.get(path)?.state ?? scan.files.get(path);
      // A command's change is kept until the workspace has it.
      if (isInaccessible(path) || (changed.has(path) && !isCommitted(path))) leaveFile(path);
      else if (action === "fetch" && hash !== undefined) {
        files.set(path, { ...getEntry(path), next: { hash, base: version } });
        this.#needed.set(path, { hash, expected });
      } else if (action === "removeHere" && expected) {
        if (removeContent(this.#storage.folder, path, expected) === "removed") files.delete(path);
      }
    }
  }
}

/** Returns the files of the folder, of the workspace and of their common base, which includes committed changes. */
function toSides(wanted: [path: string, hash: string][], committed: CommittedChanges): SyncSides<string> {
  const {
    isCommitted,
    collection: {
      scan,
      changes: { read },
      sent,
    },
    manifest,
  } = committed;
  const { files } = manifest;
  const here = new Map([...scan.files.keys()].map((path) => [path, read.get(path)?.hash ?? files.get(path)?.hash]));
  // Known paths were validated before.
  const there = new Map(wanted.map(([path, hash]) => [files.has(path) ? path : parseFilePath(path), hash]));
  const base = new Map([...files].map(([path, { hash }]) => [path, hash]));
  for (const path of sent) if (isCommitted(path)) base.set(path, here.get(path));
  return { base, here, there };
}

/** The collection of a folder that does not exist. */
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
