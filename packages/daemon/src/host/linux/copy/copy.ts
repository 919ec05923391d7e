import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { fail, filePath, isThinkeryError } from "@thinkery/sdk";
import { decodeFileTransfers, encodeFileTransfer, type WorkingCopyPlan } from "@thinkery/sdk/internal";
import type { FileState } from "../../../folder/file-state.ts";
import { look, type Look } from "../../../folder/look.ts";
import { readContent } from "../../../folder/read.ts";
import { inTurns } from "../../../folder/turns.ts";
import { removeContent, writeContent } from "../../../folder/write.ts";
import type { Place } from "../provider.ts";
import { type Finding, type Findings, findingsIn, trusted } from "./findings.ts";
import { type Entry, type Manifest, readManifest, writeManifest } from "./manifest.ts";
import { notesOn, tooMuch } from "./notes.ts";
import { isOfPrograms } from "./program-files.ts";

/** What comes back from one command, at most. */
export const mostBack = { files: 2000, bytes: 64 * 1024 * 1024 };
const mostEntries = 100_000;
const noCollection = "none";

/** What was found, and sent, the last time. What is put into the folder later is put over just this. */
interface Collection {
  id: string;
  look: Look;
  findings: Findings;
  sent: Map<string, Finding>;
}

/** A file that main is to send: what it has to be, and what we put it over. */
interface Needed {
  hash: string;
  expected: FileState | undefined;
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
    const findings = await findingsIn(this.#place.folder, found, manifest, { ...mostBack, largest });
    const notes = notesOn(manifest, findings.untaken);
    if (findings.isTooMuch) notes.push(tooMuch(mostBack));
    if (findings.isNews || notes.length > 0) await writeManifest(this.#file, manifest);
    const collection: Collection = { id: head.collection, look: found, findings, sent: new Map() };
    this.#collection = collection;
    return this.#told({ ...head, notes, isStuck: false }, collection, largest);
  }

  /** What of this version is not in the folder yet. What is there and should not be goes at once. */
  async plan({ version, files, landed, except = [] }: WorkingCopyPlan): Promise<string[]> {
    // There was no folder to be looked at before.
    if (landed === noCollection) for await (const _ of await this.collect(mostBack.bytes));
    const collection = this.#collection;
    const manifest = this.#manifest;
    if (!collection || !manifest) throw fail("conflict", "Look at the folder first.");
    if (landed !== noCollection && landed !== collection.id) throw fail("conflict", "The folder was looked at again meanwhile.");
    const left = new Set(except);
    const isLanded = (path: string) => landed !== noCollection && collection.sent.has(path) && !left.has(path);
    this.#needed.clear();
    this.#left = 0;
    if (files) await this.#compare(version, files, isLanded, collection, manifest);
    else this.#confirm(version, isLanded, collection, manifest);
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
    return look(this.#place.folder, { known: new Set(manifest.files.keys()), isLeftOut: isOfPrograms, mostEntries });
  }

  async *#told(head: object, { findings, sent }: Collection, largest: number): AsyncGenerator<Uint8Array> {
    yield* encodeFileTransfer(head);
    if (!findings.isTooMuch) {
      for (const finding of findings.changed.values()) {
        const { path, base, now } = finding;
        if (!now) {
          sent.set(path, finding);
          yield* encodeFileTransfer({ delete: path, base });
          continue;
        }
        const content = now.bytes ? { ...now, bytes: now.bytes } : await readContent(this.#place.folder, path, largest);
        delete now.bytes;
        if (!content || content.hash !== now.hash) continue;
        sent.set(path, finding);
        yield* encodeFileTransfer({ write: path, base }, content.bytes);
      }
    }
    yield* encodeFileTransfer({ end: true });
  }

  /** The version is what the folder's was, with what came from there. */
  #confirm(version: number, isLanded: (path: string) => boolean, { sent }: Collection, { files, version: before }: Manifest): void {
    for (const [path, { now }] of sent) {
      if (!isLanded(path)) continue;
      if (now) files.set(path, { hash: now.hash, base: version, ...trusted(now.state) });
      else files.delete(path);
    }
    for (const entry of files.values()) if (entry.base === before) entry.base = version;
  }

  async #compare(version: number, wanted: [path: string, hash: string][], isLanded: (path: string) => boolean, { look, findings, sent }: Collection, manifest: Manifest): Promise<void> {
    const turn = inTurns();
    const { files } = manifest;
    const stays = new Set<string>();
    for (const [given, hash] of wanted) {
      // What is known was looked at when it came.
      const path = files.has(given) ? given : filePath(given);
      stays.add(path);
      const entry = files.get(path);
      const changed = findings.changed.get(path);
      const state = look.files.get(path);
      const now = changed ? changed.now?.hash : state && entry?.hash;
      if (now === hash && !findings.unclear.has(path)) files.set(path, { hash, base: version, ...trustedNow(changed, entry) });
      else {
        const isClear = !findings.unclear.has(path) && !look.isHidden(path) && !findings.isTooMuch;
        const next = { hash, base: version };
        const known: Entry = entry ?? { base: manifest.version };
        if (isClear && (!changed || isLanded(path))) {
          files.set(path, { ...known, next });
          this.#needed.set(path, { hash, expected: changed ? changed.now?.state : state });
        } else {
          files.set(path, known);
          this.#left++;
        }
      }
    }
    for (const path of new Set([...files.keys(), ...sent.keys()])) {
      if (stays.has(path)) continue;
      await turn();
      this.#drop(path, isLanded(path), { look, findings }, files);
    }
  }

  /** The workspace has no such file any more. */
  #drop(path: string, isLanded: boolean, { look, findings }: Pick<Collection, "look" | "findings">, files: Manifest["files"]): void {
    const changed = findings.changed.get(path);
    if (findings.unclear.has(path) || look.isHidden(path) || findings.isTooMuch || (changed?.now && !isLanded)) return;
    const state = changed ? changed.now?.state : look.files.get(path);
    if (state && removeContent(this.#place.folder, path, state) !== "removed") return;
    files.delete(path);
  }
}

function trustedNow(changed: Finding | undefined, entry: Entry | undefined): { state?: FileState } {
  if (changed?.now) return trusted(changed.now.state);
  return entry?.state ? { state: entry.state } : {};
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
