import type { NeededBlob } from "./reference-rows.ts";

/** Some rows of a table that refers to blobs. `next` continues after them; absent at the end. */
export interface BlobPage {
  blobs: NeededBlob[];
  next?: number;
}

export interface BlobSource {
  listBlobs(after: number): BlobPage;
}

/** Rows read per page, which bounds the time that it takes. */
const rowsPerPage = 1000;

/** Reads a page of a table in the order of its row ids. `query` selects `id` and takes the start and the limit. */
export function readBlobPage<Row extends Record<string, SqlStorageValue> & { id: number }>(
  sql: SqlStorage,
  query: string,
  after: number,
  toBlobs: (row: Row) => NeededBlob[],
): BlobPage {
  const rows = sql.exec<Row>(query, after, rowsPerPage).toArray();
  const last = rows.at(-1);
  return { blobs: rows.flatMap(toBlobs), ...(last && rows.length === rowsPerPage ? { next: last.id } : {}) };
}
