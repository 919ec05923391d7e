import { fail, type PageQuery, type Resource } from "@thinkery/sdk";
import { type BlobPage, type BlobSource, readBlobPage } from "../store/blobs/blob-page.ts";

const maxResources = 10_000;
const maxTotalMb = 512;

interface Row extends Record<string, SqlStorageValue> {
  number: number;
  hash: string;
  size: number;
  type: string;
  created_by: string;
  created_at: number;
  preview: string | null;
}

type NewResourceRow = Omit<Resource, "createdAt">;

/** The resources of one agency. Their contents are blobs. */
export class Resources implements BlobSource {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  find(id: string): Resource | undefined {
    const [row] = this.#sql.exec<Row>("SELECT * FROM resources WHERE hash = ?", id).toArray();
    return row && toResource(row);
  }

  get(id: string): Resource {
    const resource = this.find(id);
    if (!resource) throw fail("not_found", `There is no resource “${id.slice(0, 64)}” in this agency.`);
    return resource;
  }

  /** Throws if there is no room for so many more bytes. */
  checkRoom(bytes: number): void {
    const totals = this.#sql
      .exec<{ count: number; bytes: number }>(
        "SELECT count(*) AS count, coalesce(sum(size), 0) AS bytes FROM resources",
      )
      .one();
    if (totals.count >= maxResources)
      throw fail("too_large", `An agency can have at most ${maxResources} resources. Write a document instead.`);
    if (totals.bytes + bytes > maxTotalMb * 1024 * 1024)
      throw fail(
        "too_large",
        `The resources of an agency can have at most ${maxTotalMb} MB in total. Write a document instead.`,
      );
  }

  /** Adds a resource, unless there is one with the same content. */
  add({ id, size, type, createdBy, preview }: NewResourceRow, now: number): Resource {
    const existing = this.find(id);
    if (existing) return existing;
    // Others may have been added since it was checked.
    this.checkRoom(size);
    this.#sql.exec(
      "INSERT INTO resources (hash, size, type, created_by, created_at, preview) VALUES (?, ?, ?, ?, ?, ?)",
      id,
      size,
      type,
      createdBy,
      now,
      preview ?? null,
    );
    return this.get(id);
  }

  /** Lists a page of resources, newest first. */
  list({ limit, after }: PageQuery): { resources: Resource[]; next?: string } {
    const rows = this.#sql
      .exec<Row>("SELECT * FROM resources WHERE number < ? ORDER BY number DESC LIMIT ?", parseCursor(after), limit + 1)
      .toArray();
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return { resources: page.map(toResource), ...(rows.length > limit && last ? { next: String(last.number) } : {}) };
  }

  listBlobs(after: number): BlobPage {
    return readBlobPage<{ id: number; hash: string; size: number }>(
      this.#sql,
      "SELECT number AS id, hash, size FROM resources WHERE number > ? ORDER BY number LIMIT ?",
      after,
      ({ hash, size }) => [{ hash, size }],
    );
  }
}

function parseCursor(after: string | undefined): number {
  if (after === undefined) return Number.MAX_SAFE_INTEGER;
  if (!/^[1-9]\d{0,14}$/.test(after))
    throw fail("bad_request", "Invalid `after`: expected the `next` of an earlier page.");
  return Number(after);
}

function toResource({ hash, size, type, created_by, created_at, preview }: Row): Resource {
  return {
    id: hash,
    type,
    size,
    ...(preview === null ? {} : { preview }),
    createdBy: created_by,
    createdAt: new Date(created_at).toISOString(),
  };
}
