import type { ContentWithInfo } from "./content.ts";

/** Texts in full, each once, by their hash. */
export class Copies {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Answers under which hash; nothing for what is no text. */
  put(known: ContentWithInfo | undefined): string | null {
    if (typeof known?.content !== "string") return null;
    this.#sql.exec(
      "INSERT INTO copies (hash, content) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING",
      known.info.hash,
      known.content,
    );
    return known.info.hash;
  }

  getText(hash: string | undefined): string | undefined {
    if (hash === undefined) return undefined;
    return this.#sql.exec<{ content: string }>("SELECT content FROM copies WHERE hash = ?", hash).toArray()[0]?.content;
  }

  /** Those that no change is in need of go: of all, or of one. */
  dropUnused(hash?: string): void {
    const [which, values] = hash === undefined ? ["TRUE", []] : ["hash = ?", [hash]];
    this.#sql.exec(
      `DELETE FROM copies WHERE ${which} AND NOT EXISTS (SELECT 1 FROM changes WHERE before_copy = copies.hash) AND NOT EXISTS (SELECT 1 FROM changes WHERE after_copy = copies.hash)`,
      ...values,
    );
  }
}
