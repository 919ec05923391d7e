import { crc32 } from "node:zlib";

/** What one row may have. On Cloudflare a row has 2 MB at most. */
const maxRowBytes = 1024 * 1024;

/** The tail is as long as this, and as large as this or half of the snapshot, before it is folded into a snapshot. */
const maxTailUpdates = 500;
const minTailBytes = 64 * 1024;

/** Ids of ordinary clients have 32 bits. Ours are larger, and each new one larger than those before it. */
const clientIdGeneration = 2 ** 32;

export const isOwnId = (client: number) => client >= clientIdGeneration;

/** The parts of a snapshot are numbered from 0; before them lies how far it goes, which takes long to read off them. */
const vectorPart = -1;

/** A snapshot that is smaller is made when everybody has left, however little there is to fold into it. */
const smallSnapshotBytes = 1024 * 1024;

/** A document, and how far it goes. */
export interface Snapshot {
  whole: Uint8Array;
  vector: Uint8Array;
}

interface StoredPiece extends Record<string, SqlStorageValue> {
  data: ArrayBuffer;
  checksum: number;
}

/** What a document asks of the place where it is stored. */
export type LiveStorage = Pick<
  LiveStore,
  | "hasTail"
  | "needsSnapshot"
  | "readSettled"
  | "read"
  | "getClientId"
  | "renewClientId"
  | "append"
  | "replace"
  | "forget"
>;

/** How one branch's document is stored: a snapshot, and the updates since then. */
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

  /** Is there a tail, and is it worth a snapshot now that nobody waits? */
  get hasTail(): boolean {
    const { updates, bytes } = this.#tail;
    return updates > maxTailUpdates / 10 || (updates > 0 && this.#snapshotBytes + bytes < smallSnapshotBytes);
  }

  get needsSnapshot(): boolean {
    return this.#tail.updates > maxTailUpdates || this.#tail.bytes > Math.max(minTailBytes, this.#snapshotBytes / 2);
  }

  /** The whole document, where it was put away with the files as of this version and is as it was then. */
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

  /** What the document is made of, in order; nothing where some of it is damaged. */
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

  /** By this id the house makes its own edits here, however often the document is opened: every id is kept in it for ever. */
  getClientId(): number {
    const [row] = this.#sql
      .exec<{ client: number }>("SELECT client FROM live_docs WHERE branch = ?", this.#branch)
      .toArray();
    return row?.client ?? this.#storeClientId(0);
  }

  /**
   * Another id, where edits may be around under the old one that are not known here. It is larger, so where both have
   * made an entry for the same file, the newer one holds.
   */
  renewClientId(): number {
    return this.#storeClientId(this.getClientId());
  }

  /** Stores an update; answers false for one that is too large for a row, which has to be stored as a snapshot. */
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

  /** Stores the whole document, which is as the files are at this version, in place of everything that was stored of it. */
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

  /** Gives up what is stored, and the id with it: clients may still have what was made under it, and would take the next for the same. */
  forget(): void {
    this.#storage.transactionSync(() => {
      this.#clear();
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

  #storeClientId(before: number): number {
    const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
    const client = (Math.floor(before / clientIdGeneration) + 1) * clientIdGeneration + random;
    this.#sql.exec(
      "INSERT INTO live_docs (branch, client) VALUES (?, ?) ON CONFLICT (branch) DO UPDATE SET client = excluded.client",
      this.#branch,
      client,
    );
    return client;
  }
}

/** Nothing where one of them is not what was stored. */
function verifyPieces(pieces: readonly StoredPiece[]): Uint8Array[] | undefined {
  const all = pieces.map(({ data }) => new Uint8Array(data));
  return pieces.every(({ checksum }, index) => crc32(all[index] as Uint8Array) === checksum) ? all : undefined;
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
