import { crc32 } from "node:zlib";

/** What one row may have. On Cloudflare a row has 2 MB at most. */
const rowBytes = 1024 * 1024;

/** The tail is as long as this, and as large as this or half of the snapshot, before it is folded into a snapshot. */
const longestTail = 500;
const smallTail = 64 * 1024;

/** Ids of ordinary clients have 32 bits. Ours are larger, and each new one larger than those before it. */
const generation = 2 ** 32;

/** What a document asks of the place where it is stored. */
export type LiveStorage = Pick<LiveStore, "hasTail" | "wantsSnapshot" | "read" | "client" | "renewClient" | "append" | "replace" | "forget">;

/** How one branch's document is stored: a snapshot, and the updates since then. */
export class LiveStore {
  readonly #sql: SqlStorage;
  readonly #branch: string;
  #snapshotBytes = 0;
  #tail = { updates: 0, bytes: 0 };

  constructor(sql: SqlStorage, branch: string) {
    this.#sql = sql;
    this.#branch = branch;
  }

  /** Is the tail long enough to be worth a snapshot now that nobody waits? */
  get hasTail(): boolean {
    return this.#tail.updates > longestTail / 10;
  }

  get wantsSnapshot(): boolean {
    return this.#tail.updates > longestTail || this.#tail.bytes > Math.max(smallTail, this.#snapshotBytes / 2);
  }

  /** What the document is made of, in order; nothing where some of it is damaged. */
  read(): Uint8Array[] | undefined {
    const parts = this.#sql
      .exec<{ data: ArrayBuffer; checksum: number }>("SELECT data, checksum FROM live_snapshots WHERE branch = ? ORDER BY part", this.#branch)
      .toArray();
    const tail = this.#sql
      .exec<{ data: ArrayBuffer; checksum: number }>("SELECT data, checksum FROM live_updates WHERE branch = ? ORDER BY number", this.#branch)
      .toArray();
    const rows = [...parts, ...tail].map(({ data, checksum }) => ({ data: new Uint8Array(data), checksum }));
    if (rows.some(({ data, checksum }) => crc32(data) !== checksum)) return undefined;
    const [pieces, updates] = [rows.slice(0, parts.length), rows.slice(parts.length)].map((some) => some.map(({ data }) => data)) as [Uint8Array[], Uint8Array[]];
    this.#snapshotBytes = bytesOf(pieces);
    this.#tail = { updates: updates.length, bytes: bytesOf(updates) };
    return pieces.length > 0 ? [joined(pieces), ...updates] : updates;
  }

  /** By this id the house makes its own edits here, however often the document is opened: every id is kept in it for ever. */
  client(): number {
    const [row] = this.#sql.exec<{ client: number }>("SELECT client FROM live_docs WHERE branch = ?", this.#branch).toArray();
    return row?.client ?? this.#putClient(0);
  }

  /**
   * Another id, where edits may be around under the old one that are not known here. It is larger, so where both have
   * made an entry for the same file, the newer one holds.
   */
  renewClient(): number {
    return this.#putClient(this.client());
  }

  /** Stores an update; answers false for one that is too large for a row, which has to be stored as a snapshot. */
  append(update: Uint8Array): boolean {
    if (update.length > rowBytes) return false;
    this.#sql.exec("INSERT INTO live_updates (branch, checksum, data) VALUES (?, ?, ?)", this.#branch, crc32(update), update);
    this.#tail.updates += 1;
    this.#tail.bytes += update.length;
    return true;
  }

  /** Stores the whole document in place of everything that was stored of it. */
  replace(snapshot: Uint8Array): void {
    this.forget();
    for (let part = 0; part * rowBytes < snapshot.length; part += 1) {
      const data = snapshot.slice(part * rowBytes, (part + 1) * rowBytes);
      this.#sql.exec("INSERT INTO live_snapshots (branch, part, checksum, data) VALUES (?, ?, ?, ?)", this.#branch, part, crc32(data), data);
    }
    this.#snapshotBytes = snapshot.length;
  }

  /** The id stays: clients may still have what was made under it. */
  forget(): void {
    this.#sql.exec("DELETE FROM live_updates WHERE branch = ?", this.#branch);
    this.#sql.exec("DELETE FROM live_snapshots WHERE branch = ?", this.#branch);
    this.#snapshotBytes = 0;
    this.#tail = { updates: 0, bytes: 0 };
  }

  #putClient(before: number): number {
    const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
    const client = (Math.floor(before / generation) + 1) * generation + random;
    this.#sql.exec("INSERT INTO live_docs (branch, client) VALUES (?, ?) ON CONFLICT (branch) DO UPDATE SET client = excluded.client", this.#branch, client);
    return client;
  }
}

const bytesOf = (pieces: readonly Uint8Array[]) => pieces.reduce((sum, { length }) => sum + length, 0);

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(bytesOf(pieces));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
