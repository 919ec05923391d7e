import { type FileEdit, findPathIssue, parseFilePath } from "@thinkery/sdk";
import * as Y from "yjs";
import type { Commit } from "../commits.ts";
import type { Workspace } from "../workspace.ts";
import { type ConflictCopy, findConflictCopies } from "./conflict-copies.ts";
import { getBinaries, getFiles, mirrorFile } from "./layout.ts";
import { type LiveError, toLiveError, CorruptedDocumentError } from "./live-error.ts";
import type { LiveStorage } from "./live-store.ts";
import { isInOrder } from "./order.ts";
import { validateUpdate } from "./validate-update.ts";

/** The part of a workspace that live editing needs. */
export type LiveFiles = Pick<Workspace, "iterateContents" | "getContent" | "commit" | "latest" | "findConflictPath">;

interface LiveDocumentOptions {
  branch: string;
  files: LiveFiles;
  store: LiveStorage;
}

/**
 * A document whose edits took more steps to place is rebuilt when it is opened next, without its history. Opening it
 * would take them again, in one piece.
 */
const maxStoredSteps = 10_000_000;

/** What an update changed. */
interface TouchedFiles {
  paths: Set<string>;
  binaries: Set<string>;
  /** Text that has no place in the current files. */
  conflictCopies: readonly ConflictCopy[];
}

interface ReceiveResult {
  /** The update to broadcast, also to the sender if it was corrected. */
  delta?: Uint8Array | undefined;
  corrected: boolean;
  /** It refers to missing items, so it was not applied, or only in part. */
  gap: boolean;
  /** The workspace rejected it, and it was undone in the document. */
  error?: LiveError | undefined;
}

/**
 * The files of one branch as a Yjs document, while clients are connected. The rows are the source of truth: the document
 * is reconciled with them when it is opened and follows every commit, and updates from clients are committed at once.
 */
export class LiveDocument {
  readonly #options: LiveDocumentOptions;
  readonly #doc: Y.Doc;
  /** The stored state could not be read: clients may have a document with another history. */
  readonly isDamaged: boolean;
  /** What changed when it was opened, for clients that are already connected. */
  readonly openingUpdate: Uint8Array | undefined;
  #updates: Uint8Array[] = [];
  #isCommitting = false;

  constructor(options: LiveDocumentOptions) {
    this.#options = options;
    // Before anything is written, because the branch may not exist.
    const files = options.files.iterateContents(options.branch);
    const stored = loadDocument(options);
    this.isDamaged = stored === undefined;
    if (this.isDamaged) options.store.forget();
    this.#doc = stored ?? new Y.Doc();
    this.#doc.clientID = options.store.getClientId();
    this.#doc.on("update", (update: Uint8Array) => void this.#updates.push(update));
    this.openingUpdate = this.#applyChange(() => this.#reconcile(files));
  }

  get vector(): Uint8Array {
    return Y.encodeStateVector(this.#doc);
  }

  /** Encodes what a client with this state vector is missing. */
  encodeMissing(vector?: Uint8Array): Uint8Array {
    return Y.encodeStateAsUpdate(this.#doc, vector);
  }

  /** Applies a commit that was made elsewhere; returns the update to broadcast. */
  applyCommit({ changes }: Commit): Uint8Array | undefined {
    if (this.#isCommitting) return undefined;
    return this.#applyChange(() => {
      for (const change of changes) mirrorFile(this.#doc, change.path, change.after, change);
    });
  }

  /**
   * Validates, applies and commits a client's update, and stores it with the commit. Throws a `LiveError` if it is
   * rejected. After a `CorruptedDocumentError` or any other error the document is in an unknown state and must be
   * dropped: everything that others have seen of it is stored.
   */
  receive(update: Uint8Array, user: string, check: (clients: ReadonlySet<number>) => void): ReceiveResult {
    const validation = validateUpdate(this.#doc, update);
    const { gap, clients, delta } = validation;
    if (gap) return { gap: true, corrected: false };
    check(clients);
    // The client has edits of ours that we lack, so our document is older than what it has seen.
    if (clients.has(this.#doc.clientID)) this.#doc.clientID = this.#options.store.renewClientId();
    if (validation.steps > 0) this.#options.store.addSteps(validation.steps);
    const before = this.vector;
    let touched: TouchedFiles = { paths: new Set(), binaries: new Set(), conflictCopies: [] };
    this.#updates = [];
    this.#doc.transact(({ changed, beforeState }) => {
      Y.applyUpdate(this.#doc, delta);
      if (!isInOrder(this.#doc, beforeState, clients))
        throw new CorruptedDocumentError(4400, "Malformed: not a workspace edit.");
      touched = {
        ...this.#findTouched(changed),
        conflictCopies: findConflictCopies(this.#doc, beforeState, validation),
      };
    });
    const { store } = this.#doc;
    const hasPending = store.pendingStructs !== null || store.pendingDs !== null;
    store.pendingStructs = null;
    store.pendingDs = null;
    return { gap: hasPending, ...this.#commitTouched(touched, user, before) };
  }

  /** Stores a snapshot if needed, so that the document opens quickly next time. */
  close(): void {
    if (this.#options.store.hasTail) this.#storeSnapshot();
    this.#doc.destroy();
  }

  #reconcile(files: ReturnType<LiveFiles["iterateContents"]>): void {
    const paths = new Set<string>();
    for (const { path, content } of files) {
      paths.add(path);
      mirrorFile(this.#doc, path, content);
    }
    for (const map of [getFiles(this.#doc), getBinaries(this.#doc)]) {
      for (const path of map.keys()) if (!paths.has(path)) map.delete(path);
    }
  }

  /** Stores document changes in the same event-loop turn as the rows. */
  #applyChange(work: () => void): Uint8Array | undefined {
    this.#updates = [];
    this.#doc.transact(work);
    return this.#storeUpdates();
  }

  #storeUpdates(): Uint8Array | undefined {
    const [update] = this.#updates;
    if (!update) return undefined;
    const { store } = this.#options;
    if (!store.append(update) || store.needsSnapshot) this.#storeSnapshot();
    return update;
  }

  #storeSnapshot(): void {
    const { store, files, branch } = this.#options;
    store.replace({ whole: this.encodeMissing(), vector: this.vector }, files.latest(branch));
  }

  /** Commits what an update changed and restores what is not allowed, in one transaction with the stored update. */
  #commitTouched(
    { paths, binaries, conflictCopies }: TouchedFiles,
    user: string,
    before: Uint8Array,
  ): Omit<ReceiveResult, "gap"> {
    const invalid = [...paths].filter((path) => !isCanonicalPath(path));
    const corrected = new Set([...invalid, ...binaries]);
    for (const path of invalid) paths.delete(path);
    this.#restoreFiles(corrected);
    let delta: Uint8Array | undefined;
    const restoreAndStore = (restored: Iterable<string>) => {
      this.#restoreFiles(restored);
      for (const path of restored) corrected.add(path);
      // Encoded again without what was undone, so that nobody ever sees it.
      if (corrected.size > 0) this.#updates = [this.encodeMissing(before)];
      delta = this.#storeUpdates();
    };
    try {
      const copies = this.#createConflictCopies(conflictCopies, user);
      this.#commit([...[...paths].flatMap((path) => this.#createEdits(path)), ...copies], user, () => {
        // A text that replaces a binary file removes it from the list of binaries.
        const replaced = [...paths].filter((path) => getBinaries(this.#doc).has(path));
        restoreAndStore([...replaced, ...copies.map(({ write }) => write)]);
      });
      return { delta, corrected: corrected.size > 0 };
    } catch (error) {
      const liveError = toLiveError(error);
      if (!liveError) throw error;
      restoreAndStore(paths);
      return { delta, error: liveError, corrected: true };
    }
  }

  /** Keeps the discarded text as a conflict copy. */
  #createConflictCopies(copies: readonly ConflictCopy[], user: string): { write: string; content: string }[] {
    const { files, branch } = this.#options;
    return copies.flatMap(({ path, text }) => {
      if (!isCanonicalPath(path) || getFiles(this.#doc).get(path)?.toString() === text) return [];
      return [{ write: files.findConflictPath(path, user, branch), content: text }];
    });
  }

  /**
   * Runs in its own transaction: Yjs caches search markers in a text, and discards those that remote edits invalidated
   * only at the end of a transaction.
   */
  #restoreFiles(paths: Iterable<string>): void {
    const { files, branch } = this.#options;
    this.#doc.transact(() => {
      for (const path of paths)
        mirrorFile(this.#doc, path, isCanonicalPath(path) ? files.getContent(path, { branch }) : undefined);
    });
  }

  #commit(edits: FileEdit[], user: string, runInTransaction: () => void): void {
    const { files, branch } = this.#options;
    this.#isCommitting = true;
    try {
      files.commit(edits, { kind: "user", user }, { branch, joins: true, runInTransaction });
    } finally {
      this.#isCommitting = false;
    }
  }

  #findTouched(changed: Y.Transaction["changed"]): Omit<TouchedFiles, "conflictCopies"> {
    const files = getFiles(this.#doc);
    const paths = new Set<string>();
    const binaries = new Set<string>();
    for (const [type, keys] of changed as Map<unknown, Set<string | null>>) {
      const target = type === files ? paths : type === getBinaries(this.#doc) ? binaries : undefined;
      if (target) for (const key of keys) target.add(key ?? "");
      else if (type instanceof Y.Text && type._item?.parentSub && files.get(type._item.parentSub) === type)
        paths.add(type._item.parentSub);
    }
    return { paths, binaries };
  }

  #createEdits(path: string): FileEdit[] {
    const text = getFiles(this.#doc).get(path)?.toString();
    const current = this.#options.files.getContent(path, { branch: this.#options.branch });
    if (text === current) return [];
    if (text !== undefined) return [{ write: path, content: text }];
    return typeof current === "string" ? [{ delete: path }] : [];
  }
}

/** Whether a path is valid and spelled exactly as in the rows. */
function isCanonicalPath(path: string): boolean {
  return findPathIssue(path) === undefined && parseFilePath(path) === path;
}

/** Loads the stored document. Returns undefined if it cannot be read. */
function loadDocument({ store, branch }: LiveDocumentOptions): Y.Doc | undefined {
  try {
    if (store.getSteps() > maxStoredSteps) throw new Error("too many of its edits are at the same positions");
    const stored = store.read();
    if (!stored) throw new Error("checksum mismatch");
    const doc = new Y.Doc();
    doc.transact(() => {
      for (const update of stored) Y.applyUpdate(doc, update);
    });
    if (doc.store.pendingStructs || doc.store.pendingDs) throw new Error("an update is missing");
    return doc;
  } catch (error) {
    console.error(
      `the live document of branch ${branch} is damaged and is being rebuilt from the files: ${error instanceof Error ? error.message : "it cannot be read"}`,
    );
    return undefined;
  }
}
