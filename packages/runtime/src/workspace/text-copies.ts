import type { ContentWithInfo } from "./content.ts";

/** Full copies of texts, deduplicated by hash. */
export class TextCopies {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Stores a copy and returns its hash; null if the content is not text. */
  put(content: ContentWithInfo | undefined): string | null {
    if (typeof content?.content !== "string") return null;
    this.#sql.exec(
      "INSERT INTO copies (hash, content) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING",
      content.info.hash,
      content.content,
    );
    return content.info.hash;
  }

  getText(hash: string | undefined): string | undefined {
    if (hash === undefined) return undefined;
    return this.#sql.exec<{ content: string }>("SELECT content FROM copies WHERE hash = ?", hash).toArray()[0]?.content;
  }

  /** Deletes a copy if no change refers to it. */
  dropUnused(hash: string): void {
    this.#sql.exec(
      "DELETE FROM copies WHERE hash = ? AND NOT EXISTS (SELECT 1 FROM changes WHERE before_copy = copies.hash) AND NOT EXISTS (SELECT 1 FROM changes WHERE after_copy = copies.hash)",
      hash,
    );
  }

  /** Deletes the copies that only the changes refer to that match a condition and are about to be deleted. */
  dropUnusedAfter(condition: "version <= ?" | "branch = ?", value: string | number): void {
    const numbered = condition.replace("?", "?1");
    const isNeededBy = (column: string) =>
      `EXISTS (SELECT 1 FROM changes WHERE ${column} = copies.hash AND NOT (${numbered}))`;
    this.#sql.exec(
      `DELETE FROM copies WHERE hash IN (SELECT before_copy FROM changes WHERE ${numbered} UNION SELECT after_copy FROM changes WHERE ${numbered})
       AND NOT ${isNeededBy("before_copy")} AND NOT ${isNeededBy("after_copy")}`,
      value,
    );
  }
}
