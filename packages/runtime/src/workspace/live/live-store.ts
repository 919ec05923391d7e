import { crc32 } from "node:zlib";

/** Maximum bytes per row. Cloudflare allows 2 MB. */
const maxRowBytes = 1024 * 1024;

/** The updates since the last snapshot are compacted beyond this count, or this size or half the snapshot's. */
const maxTailUpdates = 500;
const minTailBytes = 64 * 1024;

/** Ids of ordinary clients have 32 bits. Ours are larger, and each is larger than the previous one. */
const clientIdGeneration = 2 ** 32;

export const isOwnId = (client: number) => client >= clientIdGeneration;

/** Snapshot parts are numbered from 0. This one holds the state vector, which is slow to compute from the others. */
const vectorPart = -1;

/** Smaller documents are always compacted when the last client leaves. */
const smallSnapshotBytes = 1024 * 1024;

/** A whole document and its state vector. */
export interface Snapshot {
  whole: Uint8Array;
  vector: Uint8Array;
}

interface StoredPiece extends Record<string, SqlStorageValue> {
  data: ArrayBuffer;
  checksum: number;
}

/** The storage interface of a document. */
export type LiveStorage = Pick<
  LiveStore,
  | "hasTail"
  | "needsSnapshot"
  | "readSettled"
  | "read"
  | "getSteps"
  | "addSteps"
  | "getClientId"
  | "renewClientId"
  | "append"
  | "replace"
  | "forget"
>;

/** Stores one branch's document as a snapshot and the updates since then. */
export class LiveStore {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  readonly #branch: string;
  #snapshotBytes = 0;
  #tail = { updates: 0, bytes: 0 };

  constructor(storage: DurableObjectStorage, branch: string) {
    this.#storage = storage;
    this.#sql = storage.sql;
    this.#branch = branch;
  }

  /** Whether there are enough updates to compact now that nobody is waiting. */
  get hasTail(): boolean {
    const { updates, bytes } = this.#tail;
    return updates > maxTailUpdates / 10 || (updates > 0 && this.#snapshotBytes + bytes < smallSnapshotBytes);
  }

  get needsSnapshot(): boolean {
    return this.#tail.updates > maxTailUpdates || this.#tail.bytes > Math.max(minTailBytes, this.#snapshotBytes / 2);
  }

  /** Returns the snapshot if it was stored at this version of the files and has no updates since. */
  readSettled(version: number): Snapshot | undefined {
    const [row] = this.#sql
      .exec(
        "SELECT 1 FROM live_docs WHERE branch = ?1 AND version = ?2 AND NOT EXISTS (SELECT 1 FROM live_updates WHERE branch = ?1)",
        this.#branch,
        version,
      )
      .toArray();
    const [vector, ...parts] = (row && this.#readParts(vectorPart)) ?? [];
    return vector && { whole: concatPieces(parts), vector };
  }

  /** Returns the updates that make up the document, in order. Returns undefined if any is damaged. */
  read(): Uint8Array[] | undefined {
    const parts = this.#readParts(0);
    const updates = verifyPieces(
      this.#sql
        .exec<StoredPiece>("SELECT data, checksum FROM live_updates WHERE branch = ? ORDER BY number", this.#branch)
        .toArray(),
    );
    if (!parts || !updates) return undefined;
    this.#snapshotBytes = sumBytes(parts);
    this.#tail = { updates: updates.length, bytes: sumBytes(updates) };
    return parts.length > 0 ? [concatPieces(parts), ...updates] : updates;
  }

  /** Returns the steps of all updates, as `addSteps` counted them. */
  getSteps(): number {
    return (
      this.#sql.exec<{ steps: number }>("SELECT steps FROM live_docs WHERE branch = ?", this.#branch).toArray()[0]
        ?.steps ?? 0
    );
  }

  /** Counts the steps an update takes to apply. */
  addSteps(steps: number): void {
    this.#sql.exec("UPDATE live_docs SET steps = steps + ? WHERE branch = ?", steps, this.#branch);
  }

  /** Returns the client id of the host's own edits. It is reused, because a document keeps every id forever. */
  getClientId(): number {
    const [row] = this.#sql
      .exec<{ client: number }>("SELECT client FROM live_docs WHERE branch = ?", this.#branch)
      .toArray();
    return row?.client ?? this.#storeClientId(0);
  }

  /**
   * Switches to a new id, because unknown edits under the old one may exist. It is larger, so if both have created an
   * entry for the same file, the newer one wins.
   */
  renewClientId(): number {
    return this.#storeClientId(this.getClientId());
  }

  /** Stores an update. Returns false if it is too large for a row and must be stored as a snapshot. */
  append(update: Uint8Array): boolean {
    if (update.length > maxRowBytes) return false;
    this.#sql.exec(
      "INSERT INTO live_updates (branch, checksum, data) VALUES (?, ?, ?)",
      this.#branch,
      crc32(update),
      update,
    );
    this.#tail.updates += 1;
    this.#tail.bytes += update.length;
    return true;
  }

  /** Replaces everything stored with a snapshot that matches this version of the files. */
  replace({ whole, vector }: Snapshot, version: number): void {
    this.#storage.transactionSync(() => {
      this.#clear();
      this.#putPart(vectorPart, vector);
      for (let part = 0; part * maxRowBytes < whole.length; part += 1)
        this.#putPart(part, whole.slice(part * maxRowBytes, (part + 1) * maxRowBytes));
      this.#sql.exec("UPDATE live_docs SET version = ? WHERE branch = ?", version, this.#branch);
    });
    this.#snapshotBytes = whole.length;
  }

  /** Deletes everything stored and renews the id, because clients may still have edits made under the old one. */
  forget(): void {
    this.#storage.transactionSync(() => {
      this.#clear();
      this.#sql.exec("UPDATE live_docs SET steps = 0 WHERE branch = ?", this.#branch);
      this.renewClientId();
    });
  }

  #clear(): void {
    this.#sql.exec("DELETE FROM live_updates WHERE branch = ?", this.#branch);
    this.#sql.exec("DELETE FROM live_snapshots WHERE branch = ?", this.#branch);
    this.#snapshotBytes = 0;
    this.#tail = { updates: 0, bytes: 0 };
  }

  #readParts(from: number): Uint8Array[] | undefined {
    return verifyPieces(
      this.#sql
        .exec<StoredPiece>(
          "SELECT data, checksum FROM live_snapshots WHERE branch = ? AND part >= ? ORDER BY part",
          this.#branch,
          from,
        )
        .toArray(),
    );
  }

  #putPart(part: number, data: Uint8Array): void {
    this.#sql.exec(
      "INSERT INTO live_snapshots (branch, part, checksum, data) VALUES (?, ?, ?, ?)",
      this.#branch,
      part,
      crc32(data),
      data,
    );
  }

  #storeClientId(previous: number): number {
    const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
    const client = (Math.floor(previous / clientIdGeneration) + 1) * clientIdGeneration + random;
    this.#sql.exec(
      "INSERT INTO live_docs (branch, client) VALUES (?, ?) ON CONFLICT (branch) DO UPDATE SET client = excluded.client",
      this.#branch,
      client,
    );
    return client;
  }
}

/** Returns undefined if a checksum does not match. */
function verifyPieces(pieces: readonly StoredPiece[]): Uint8Array[] | undefined {
  const contents = pieces.map(({ data }) => new Uint8Array(data));
  return pieces.every(({ checksum }, index) => crc32(contents[index] as Uint8Array) === checksum)
    ? contents
    : undefined;
}

const sumBytes = (pieces: readonly Uint8Array[]) => pieces.reduce((sum, { length }) => sum + length, 0);

function concatPieces(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(sumBytes(pieces));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
