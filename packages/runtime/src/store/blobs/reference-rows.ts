import type { BlobTotals } from "@thinkery/sdk";

/** A blob that somebody needs. */
export interface NeededBlob {
  hash: string;
  size: number;
}

export interface BlobOwner {
  /** Name of the object that needs blobs, and its id, which is also the name of its file. */
  key: string;
  object: string;
}

/** What is known about a blob with references. `unknown`: those who may need it could not be asked. */
export interface CountedBlob extends NeededBlob {
  state: "needed" | "recent" | "unknown" | "unused";
}

interface OwnerRow extends Record<string, SqlStorageValue> {
  id: number;
  blobs: number;
  bytes: number;
}

/** The references to blobs, and the blobs without any that are to be deleted. */
export class ReferenceRows {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#sql = storage.sql;
  }

  /** Records that the owner needs a blob from now on. Returns whether there was room for it. */
  reserve(owner: BlobOwner, { hash, size }: NeededBlob, maxBytes: number, now: number): boolean {
    return this.#storage.transactionSync(() => {
      const { id, bytes } = this.#ensureOwner(owner);
      const exists = this.#has(hash, id);
      if (!exists && bytes + size > maxBytes) return false;
      this.#sql.exec(
        "INSERT INTO refs (hash, owner, size, reserved_at) VALUES (?, ?, ?, ?) ON CONFLICT (hash, owner) DO UPDATE SET reserved_at = excluded.reserved_at",
        hash,
        id,
        size,
        now,
      );
      this.#sql.exec("DELETE FROM unreferenced WHERE hash = ?", hash);
      if (!exists) this.#add(id, 1, size);
      return true;
    });
  }

  getTotals(key: string): BlobTotals {
    const { blobs = 0, bytes = 0 } = this.#findOwner(key) ?? {};
    return { blobs, bytes };
  }

  /** Gives up all references of an owner. They are removed by `removeReleased`. */
  release(key: string): boolean {
    return this.#sql.exec("UPDATE owners SET released = 1 WHERE key = ? AND released = 0", key).rowsWritten > 0;
  }

  /** Removes some references of released owners. Returns whether there were any. */
  removeReleased(limit: number): boolean {
    const [owner] = this.#sql.exec<{ id: number }>("SELECT id FROM owners WHERE released = 1 LIMIT 1").toArray();
    if (!owner) return false;
    this.#storage.transactionSync(() => {
      const rows = this.#sql
        .exec<{ hash: string; size: number }>("SELECT hash, size FROM refs WHERE owner = ? LIMIT ?", owner.id, limit)
        .toArray();
      for (const row of rows) this.#remove(row, owner.id);
      if (rows.length < limit) this.#sql.exec("DELETE FROM owners WHERE id = ?", owner.id);
    });
    return true;
  }

  /** Whether there is something left to remove or delete. */
  hasUnfinished(): boolean {
    const released = this.#sql.exec("SELECT 1 FROM owners WHERE released = 1 LIMIT 1").toArray();
    return released.length > 0 || this.listUnreferenced("", 1).length > 0;
  }

  /** Starts a visit to all owners; returns its number. */
  startVisit(): number {
    return this.#sql.exec<{ visit: number }>("UPDATE blob_index SET visit = visit + 1 RETURNING visit").one().visit;
  }

  /** Records what an owner needs, as far as it is not recorded yet. */
  recordVisit(owner: BlobOwner, needed: readonly NeededBlob[], visit: number, now: number): void {
    this.#storage.transactionSync(() => {
      const { id } = this.#ensureOwner(owner);
      for (const { hash, size } of needed) {
        if (!this.#has(hash, id)) this.#add(id, 1, size);
        this.#sql.exec(
          "INSERT INTO refs (hash, owner, size, reserved_at, visit) VALUES (?, ?, ?, ?, ?) ON CONFLICT (hash, owner) DO UPDATE SET visit = max(visit, excluded.visit)",
          hash,
          id,
          size,
          now,
          visit,
        );
        this.#sql.exec("DELETE FROM unreferenced WHERE hash = ?", hash);
      }
      this.#sql.exec("UPDATE owners SET visit = max(visit, ?), object = ? WHERE id = ?", visit, owner.object, id);
    });
  }

  /**
   * Removes some references that the visit did not confirm and that were made before `cutoff`, or only marks them.
   * Returns whether there may be more.
   */
  removeUnconfirmed(
    key: string,
    { visit, cutoff, dryRun, limit }: { visit: number; cutoff: number; dryRun: boolean; limit: number },
  ): boolean {
    const owner = this.#findOwner(key);
    if (!owner) return false;
    return this.#storage.transactionSync(() => {
      const rows = this.#sql
        .exec<{ hash: string; size: number }>(
          "SELECT hash, size FROM refs WHERE owner = ? AND visit < ? AND unused_at_visit < ? AND reserved_at < ? LIMIT ?",
          owner.id,
          visit,
          visit,
          cutoff,
          limit,
        )
        .toArray();
      for (const row of rows) {
        if (dryRun)
          this.#sql.exec("UPDATE refs SET unused_at_visit = ? WHERE hash = ? AND owner = ?", visit, row.hash, owner.id);
        else this.#remove(row, owner.id);
      }
      return rows.length === limit;
    });
  }

  /** Lists owners that a visit has not reached. */
  listUnvisited(visit: number, after: string, limit: number): string[] {
    return this.#sql
      .exec<{ key: string }>(
        "SELECT key FROM owners WHERE released = 0 AND visit < ? AND key > ? ORDER BY key LIMIT ?",
        visit,
        after,
        limit,
      )
      .toArray()
      .map(({ key }) => key);
  }

  /** Lists the ids of the objects that a visit has reached. */
  listVisitedObjects(visit: number): Set<string> {
    const rows = this.#sql.exec<{ object: string }>("SELECT object FROM owners WHERE visit >= ?", visit).toArray();
    return new Set(rows.map(({ object }) => object));
  }

  /** Lists the blobs with references whose hashes begin with these digits, as a visit found them. */
  listCounted(prefix: string, visit: number, cutoff: number): CountedBlob[] {
    return this.#sql
      .exec<{ hash: string; size: number; used: number; needed: number; recent: number; reached: number }>(
        `SELECT hash, max(size) AS size, max(released = 0 AND unused_at_visit < ?1) AS used, max(refs.visit >= ?1) AS needed,
           max(reserved_at >= ?2) AS recent, min(owners.visit >= ?1 OR released = 1) AS reached
         FROM refs JOIN owners ON owners.id = refs.owner WHERE hash >= ?3 AND hash < ?4 GROUP BY hash`,
        visit,
        cutoff,
        prefix,
        `${prefix}g`,
      )
      .toArray()
      .map(({ hash, size, used, needed, recent, reached }) => ({
        hash,
        size,
        state: !used ? "unused" : needed ? "needed" : recent || reached ? "recent" : "unknown",
      }));
  }

  /** Lists blobs that are to be deleted, optionally only those whose hashes begin with these digits. */
  listUnreferenced(prefix: string, limit: number): NeededBlob[] {
    return this.#sql
      .exec<{ hash: string; size: number }>(
        "SELECT hash, size FROM unreferenced WHERE hash >= ? AND hash < ? ORDER BY hash LIMIT ?",
        prefix,
        `${prefix}g`,
        limit,
      )
      .toArray();
  }

  isReferenced(hash: string): boolean {
    return this.#sql.exec("SELECT 1 FROM refs WHERE hash = ? LIMIT 1", hash).toArray().length > 0;
  }

  /** Called when the bytes are deleted. */
  forget(hash: string): void {
    this.#sql.exec("DELETE FROM unreferenced WHERE hash = ?", hash);
  }

  #ensureOwner({ key, object }: BlobOwner): OwnerRow {
    return (
      this.#findOwner(key) ??
      this.#sql
        .exec<OwnerRow>("INSERT INTO owners (key, object) VALUES (?, ?) RETURNING id, blobs, bytes", key, object)
        .one()
    );
  }

  #findOwner(key: string): OwnerRow | undefined {
    return this.#sql
      .exec<OwnerRow>("SELECT id, blobs, bytes FROM owners WHERE key = ? AND released = 0", key)
      .toArray()[0];
  }

  #has(hash: string, owner: number): boolean {
    return this.#sql.exec("SELECT 1 FROM refs WHERE hash = ? AND owner = ?", hash, owner).toArray().length > 0;
  }

  #remove({ hash, size }: NeededBlob, owner: number): void {
    this.#sql.exec("DELETE FROM refs WHERE hash = ? AND owner = ?", hash, owner);
    this.#add(owner, -1, -size);
    if (!this.isReferenced(hash))
      this.#sql.exec("INSERT OR IGNORE INTO unreferenced (hash, size) VALUES (?, ?)", hash, size);
  }

  #add(owner: number, blobs: number, bytes: number): void {
    this.#sql.exec("UPDATE owners SET blobs = blobs + ?, bytes = bytes + ? WHERE id = ?", blobs, bytes, owner);
  }
}
