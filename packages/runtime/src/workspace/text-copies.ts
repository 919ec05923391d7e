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

  /** Deletes copies that no change refers to: all of them, or only this one. */
  dropUnused(hash?: string): void {
    const [condition, values] = hash === undefined ? ["TRUE", []] : ["hash = ?", [hash]];
    this.#sql.exec(
      `DELETE FROM copies WHERE ${condition} AND NOT EXISTS (SELECT 1 FROM changes WHERE before_copy = copies.hash) AND NOT EXISTS (SELECT 1 FROM changes WHERE after_copy = copies.hash)`,
      ...values,
    );
  }
}
