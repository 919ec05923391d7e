import { RpcTarget } from "cloudflare:workers";
import type { BlobPage, BlobSource } from "../store/blobs/blob-page.ts";
import type { StorageState } from "./storage-api.ts";

interface AgencyStorageOptions {
  /** Throws if there is no such agency. */
  open(): Promise<unknown>;
  documents: { readonly blobSources: BlobSource[]; readonly removedAt: number };
  resources: BlobSource;
}

/** The blobs that an agency needs. Its methods are those of an agent's `StorageApi`; an agency has no sub-agents. */
export class AgencyStorageApi extends RpcTarget {
  readonly #options: AgencyStorageOptions;

  constructor(options: AgencyStorageOptions) {
    super();
    this.#options = options;
  }

  async getState(_path: string[]): Promise<StorageState> {
    const { open, documents } = this.#options;
    await open();
    return { subAgents: [], isComplete: true, isBusy: false, removedAt: documents.removedAt };
  }

  /** Lists a page of blobs. `source` is what was read so far: the resources, the documents, their history. */
  async listBlobs(_path: string[], source: number, after: number): Promise<BlobPage & { sources: number }> {
    const { open, documents, resources } = this.#options;
    await open();
    const sources = [resources, ...documents.blobSources];
    return { blobs: [], ...sources[source]?.listBlobs(after), sources: sources.length };
  }
}
