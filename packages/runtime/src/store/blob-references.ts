import type { AgentEvent, AppFacts } from "@thinkery/sdk";
import { type BlobPage, type BlobSource, readBlobPage } from "./blobs/blob-page.ts";

/** The blobs this agent refers to. Only these can be read through the agent. */
export class BlobReferences implements BlobSource {
  readonly #sql: SqlStorage;
  /**
   * When the conversation was last cleared or versions of files were pruned since the object woke. Whoever read them
   * before is in memory too, so this need not outlive it.
   */
  removedAt = 0;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  apply(event: AgentEvent): void {
    if (event.type === "files.pruned" || event.type === "history.cleared") this.removedAt = Date.now();
    if (event.type === "tool.output" && event.data.result.blob) {
      this.#add(event.data.result.blob, event.data.result.mediaType ?? "text/plain", event.data.result.size);
    }
    // A reported result is needed before its sub-agent completes: its branch may still have to be merged.
    if ((event.type === "subagent.reported" || event.type === "subagent.completed") && event.data.resultBlob) {
      this.#add(event.data.resultBlob, "text/plain", event.data.resultBytes ?? 0);
    }
    if (event.type === "request.accepted") {
      for (const { attachments = [] } of event.data.messages) {
        for (const { blob, mediaType, size } of attachments) this.#add(blob, mediaType, size);
      }
    }
    if (event.type === "continuation.resolved" && event.data.attachment) {
      const { blob, mediaType, size } = event.data.attachment;
      this.#add(blob, mediaType, size);
    }
    if (event.type === "app.set") this.#addApp(event.data);
    if (event.type === "history.cleared") {
      this.empty();
      if (event.data.app) this.#addApp(event.data.app);
    }
  }

  empty(): void {
    this.#sql.exec("DELETE FROM blobs");
  }

  listBlobs(after: number): BlobPage {
    return readBlobPage<{ id: number; hash: string; size: number }>(
      this.#sql,
      "SELECT rowid AS id, hash, size FROM blobs WHERE rowid > ? ORDER BY rowid LIMIT ?",
      after,
      ({ hash, size }) => [{ hash, size }],
    );
  }

  getMediaType(hash: string): string | undefined {
    return this.#sql.exec<{ media_type: string }>("SELECT media_type FROM blobs WHERE hash = ?", hash).toArray()[0]
      ?.media_type;
  }

  #addApp({ blob, bytes }: AppFacts): void {
    this.#add(blob, "application/json", bytes);
  }

  #add(hash: string, mediaType: string, size: number): void {
    this.#sql.exec(
      "INSERT INTO blobs (hash, media_type, size) VALUES (?, ?, ?) ON CONFLICT (hash) DO NOTHING",
      hash,
      mediaType,
      size,
    );
  }
}
