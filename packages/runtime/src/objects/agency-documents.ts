import type { Connection } from "agents";
import type { BlobSource } from "../store/blobs/blob-page.ts";
import type { AgencyContext, AgencyFeature } from "./agency-feature.ts";
import { DocumentsApi } from "./documents-api.ts";
import { FilesFeature } from "./files-feature.ts";

/** Typing commits many changes per second. Those who watch hear of them together. */
const publishAfterMs = 100;

/** The documents that the members of an agency share: a workspace as agents have it, in the agency's database. */
export class AgencyDocuments implements AgencyFeature {
  readonly api: DocumentsApi;
  /** When versions were last pruned; whoever read them before may write them again. Need not outlive the object. */
  removedAt = 0;
  readonly #files: FilesFeature;
  readonly #open: () => Promise<void>;
  readonly #publish: AgencyContext["publish"];
  #isPublishing = false;

  constructor({ storage, env, record, blobs, disk, tables, open, publish }: AgencyContext) {
    this.#publish = publish;
    this.#files = new FilesFeature({
      storage,
      blobs,
      env,
      record: ({ type }) => {
        if (type === "files.pruned") this.removedAt = Date.now();
      },
      checkGrowth: (bytes) => disk.check(bytes),
      getOwner: () => record.owner,
      hasTables: tables.has("files"),
      createTables: () => tables.create("files"),
      onCommit: () => this.#noteCommit(),
    });
    this.#open = async () => {
      await open();
      await disk.refresh();
    };
    this.api = new DocumentsApi(async () => {
      await this.#open();
      return this.#files.workspace;
    });
  }

  get blobSources(): BlobSource[] {
    return this.#files.blobSources;
  }

  wake(connections: readonly Connection[]): void {
    this.#files.wake(connections);
  }

  async connect(connection: Connection, request: Request): Promise<void> {
    await this.#open();
    this.#files.live.connect(connection, request);
  }

  receive(connection: Connection, message: string | ArrayBuffer): void {
    this.#files.live.receive(connection, message);
  }

  disconnect(connection: Connection): void {
    this.#files.live.disconnect(connection);
  }

  #noteCommit(): void {
    if (this.#isPublishing) return;
    this.#isPublishing = true;
    setTimeout(() => {
      this.#isPublishing = false;
      this.#publish(() => ({ type: "changed", what: "documents" }));
    }, publishAfterMs);
  }
}
