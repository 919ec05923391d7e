import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { fail, filePath, isThinkeryError } from "@thinkery/sdk";
import {
  decodeFileTransfers,
  encodeFileTransfer,
  planSync,
  type SyncSides,
  type WorkingCopyPlan,
} from "@thinkery/sdk/internal";
import type { FileState } from "../../../folder/file-state.ts";
import { look, type Look } from "../../../folder/look.ts";
import { readContent } from "../../../folder/read.ts";
import { inTurns } from "../../../folder/turns.ts";
import { removeContent, writeContent } from "../../../folder/write.ts";
import type { Place } from "../provider.ts";
import { type Findings, findingsIn, trusted } from "./findings.ts";
import { type Entry, type Manifest, readManifest, writeManifest } from "./manifest.ts";
import { notesOn, tooMuch } from "./notes.ts";
import { isOfPrograms } from "./program-files.ts";

/** What comes back from one command, at most. */
export const maxCollected = { files: 2000, bytes: 64 * 1024 * 1024 };
const maxEntries = 100_000;
const noCollection = "none";

/** What was found, and sent, the last time. What is put into the folder later is put over just this. */
interface Collection {
  id: string;
  look: Look;
  findings: Findings;
  sent: Set<string>;
}

/** A file that main is to send: what it has to be, and what we put it over. */
interface Needed {
  hash: string;
  expected: FileState | undefined;
}

/** A version of the workspace, which has some of the changes of a collection in it. */
interface Landing {
  version: number;
  isLanded(path: string): boolean;
  collection: Collection;
  manifest: Manifest;
}

/** The files of a workspace as they lie in the folder that an agent's commands work in. */
export class WorkspaceCopy {
  readonly #place: Place;
  readonly #file: string;
  readonly #needed = new Map<string, Needed>();
  /** Files that were to be put there and could not. */
  #left = 0;
  #manifest: Manifest | undefined;
  #collection: Collection | undefined;

  constructor(place: Place) {
    this.#place = place;
    this.#file = join(place.beside, "manifest.json");
  }

  /** Finds what was changed in the folder since it was last brought up to date, and tells it. */
  async collect(largest: number): Promise<AsyncIterable<Uint8Array>> {
    this.#collection = undefined;
    this.#needed.clear();
    const manifest = (this.#manifest ??= await readManifest(this.#file));
    const head = { collection: randomBytes(8).toString("hex"), version: manifest.version, isBehind: manifest.isBehind };
    const found = await this.#look(manifest).catch((error: unknown) => {
      if (isThinkeryError(error) && error.code === "too_large") return error.message;
      throw error;
    });
    if (typeof found === "string") {
      const notes = [`${found} Nothing of it comes into the workspace, and nothing from there comes here, until there are fewer.`];
      return inOrder(encodeFileTransfer({ ...head, notes, isStuck: true }), encodeFileTransfer({ end: true }));
    }
    const findings = await findingsIn(this.#place.folder, found, manifest, { ...maxCollected, largest });
    const notes = notesOn(manifest, findings.untaken);
    if (findings.isTooMuch) notes.push(tooMuch(maxCollected));
    if (findings.isNews || notes.length > 0) await writeManifest(this.#file, manifest);
    const collection: Collection = { id: head.collection, look: found, findings, sent: new Set() };
    this.#collection = collection;
    return this.#told({ ...head, notes, isStuck: false }, collection, manifest, largest);
  }

  /** What of this version is not in the folder yet. What is there and should not be goes at once. */
  async plan({ version, files, landed, except = [] }: WorkingCopyPlan): Promise<string[]> {
    // There was no folder to be looked at before.
    if (landed === noCollection) for await (const _ of await this.collect(maxCollected.bytes));
    const collection = this.#collection;
    const manifest = this.#manifest;
    if (!collection || !manifest) throw fail("conflict", "Look at the folder first.");
    if (landed !== noCollection && landed !== collection.id) throw fail("conflict", "The folder was looked at again meanwhile.");
    const left = new Set(except);
    const isLanded = (path: string) => landed !== noCollection && collection.sent.has(path) && !left.has(path);
    this.#needed.clear();
    this.#left = 0;
    const landing: Landing = { version, isLanded, collection, manifest };
    if (files) await this.#compare(files, landing);
    else this.#confirm(landing);
    manifest.version = version;
    if (files) manifest.isBehind = this.#left + this.#needed.size > 0;
    await writeManifest(this.#file, manifest);
    return [...this.#needed.keys()];
  }

  /** Puts files there that were asked for. What cannot be is said. */
  async put(body: Buffer, largest: number): Promise<string[]> {
    const manifest = this.#manifest;
    const notes: string[] = [];
    const turn = inTurns();
    if (!manifest) throw fail("conflict", "Look at the folder first.");
    for await (const { header, bytes } of decodeFileTransfers(once(body), largest)) {
      await turn();
      const path = filePath(String((header as { path?: unknown }).path));
      const needed = this.#needed.get(path);
      const entry = manifest.files.get(path);
      if (!needed || !entry) throw fail("bad_request", "That file was not asked for.");
      this.#needed.delete(path);
      delete entry.next;
      // The workspace went on: the file as it is now is for the next time.
      if (createHash("sha256").update(bytes).digest("hex") !== needed.hash) {
        this.#left++;
        continue;
      }
      const { folder, beside, owner } = this.#place;
      const written = writeContent(folder, path, bytes, { expected: needed.expected, drafts: beside, owner });
      if (written === "changed" || "refused" in written) this.#left++;
      if (written === "changed") continue;
      if ("refused" in written) notes.push(`“${path}” could not be brought into the sandbox: ${written.refused}.`);
      else manifest.files.set(path, { hash: needed.hash, base: manifest.version, ...trusted(written.state) });
    }
    manifest.isBehind = this.#left + this.#needed.size > 0;
    await writeManifest(this.#file, manifest);
    return notes;
  }

  async #look(manifest: Manifest): Promise<Look> {
    return look(this.#place.folder, { known: new Set(manifest.files.keys()), isLeftOut: isOfPrograms, mostEntries: maxEntries });
  }

  async *#told(head: object, collection: Collection, manifest: Manifest, largest: number): AsyncGenerator<Uint8Array> {
    const { findings: { changed, read, isTooMuch }, sent } = collection;
    const baseOf = (path: string) => manifest.files.get(path)?.base ?? manifest.version;
    yield* encodeFileTransfer(head);
    if (!isTooMuch) {
      for (const [path, file] of read) {
        const { bytes } = file;
        delete file.bytes;
        const content = bytes ? { ...file, bytes } : await readContent(this.#place.folder, path, largest);
        if (!content || content.hash !== file.hash) continue;
        sent.add(path);
        yield* encodeFileTransfer({ write: path, base: baseOf(path) }, content.bytes);
      }
      for (const path of changed.deleted.keys()) {
        sent.add(path);
        yield* encodeFileTransfer({ delete: path, base: baseOf(path) });
      }
    }
    yield* encodeFileTransfer({ end: true });
  }

  /** The version is what the folder's was, with what came from there. */
  #confirm({ version, isLanded, collection: { findings, sent }, manifest }: Landing): void {
    const { files } = manifest;
    for (const path of sent) {
      if (!isLanded(path)) continue;
      const file = findings.read.get(path);
      if (file) files.set(path, { hash: file.hash, base: version, ...trusted(file.state) });
      else files.delete(path);
    }
    for (const entry of files.values()) if (entry.base === manifest.version) entry.base = version;
  }

  /** Removes what the version does not have, and notes which of its files main has to send. */
  async #compare(wanted: [path: string, hash: string][], landing: Landing): Promise<void> {
    const { version, isLanded, collection: { look, findings }, manifest } = landing;
    const { changed, read, unclear, isTooMuch } = findings;
    const { files } = manifest;
    const turn = inTurns();
    const sides = sidesOf(wanted, landing);
    const { agreed, steps, skipped } = planSync(sides, (path) => unclear.has(path));
    const known = (path: string): Entry => files.get(path) ?? { base: manifest.version };
    const isOutOfReach = (path: string) => isTooMuch || look.isHidden(path);
    const leave = (path: string) => {
      if (!sides.there.has(path)) return;
      files.set(path, known(path));
      this.#left++;
    };

    for (const path of agreed) {
      const hash = sides.there.get(path);
      const file = read.get(path);
      const { state } = file ? trusted(file.state) : known(path);
      if (hash !== undefined) files.set(path, { hash, base: version, ...(state ? { state } : {}) });
      else if (!isOutOfReach(path)) files.delete(path);
    }
    for (const path of skipped) leave(path);
    for (const { path, action } of steps) {
      await turn();
      const hash = sides.there.get(path);
      const expected = read.get(path)?.state ?? look.files.get(path);
      // What a command changed is kept until the workspace has it.
      if (isOutOfReach(path) || (changed.has(path) && !isLanded(path))) leave(path);
      else if (action === "fetch" && hash !== undefined) {
        files.set(path, { ...known(path), next: { hash, base: version } });
        this.#needed.set(path, { hash, expected });
      } else if (action === "removeHere" && expected) {
        if (removeContent(this.#place.folder, path, expected) === "removed") files.delete(path);
      }
    }
  }
}

/** The folder's files, the workspace's, and what both had last: a change that has landed is something that both had. */
function sidesOf(wanted: [path: string, hash: string][], landing: Landing): SyncSides<string> {
  const { isLanded, collection: { look, findings: { read }, sent }, manifest } = landing;
  const { files } = manifest;
  const here = new Map([...look.files.keys()].map((path) => [path, read.get(path)?.hash ?? files.get(path)?.hash]));
  // A known path was checked when it came.
  const there = new Map(wanted.map(([path, hash]) => [files.has(path) ? path : filePath(path), hash]));
  const base = new Map([...files].map(([path, { hash }]) => [path, hash]));
  for (const path of sent) if (isLanded(path)) base.set(path, here.get(path));
  return { base, here, there };
}

/** What is told of a folder that was never made. */
export function emptyCollection(): AsyncIterable<Uint8Array> {
  return inOrder(encodeFileTransfer({ collection: noCollection, version: 0, isBehind: false, notes: [], isStuck: false }), encodeFileTransfer({ end: true }));
}

async function* inOrder(...pieces: Uint8Array[][]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield* piece;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
