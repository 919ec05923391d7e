import type { DiskUsage } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { BlobPage } from "../store/blobs/blob-page.ts";
import type { AgentParts } from "./assemble-agent.ts";

/** What matters about an agent for deciding which of its blobs are still needed. */
export interface StorageState {
  /** Names of the sub-agents below it. */
  subAgents: string[];
  /** Whether all of them can be asked. */
  isComplete: boolean;
  /** A running turn may hold blobs that it has not recorded yet. */
  isBusy: boolean;
  /** When references were last removed; what was read before may still be written again. */
  removedAt: number;
}

interface StorageOptions {
  open(): Promise<AgentParts>;
  /** Lists all facets. Those of another class are unknown to us. */
  listSubAgents(): Pick<StorageState, "subAgents" | "isComplete">;
  openSubAgent(name: string): Promise<StorageApi>;
}

/** The blobs that an agent needs, and what it occupies. Paths name a sub-agent, at any depth. */
export class StorageApi extends RpcTarget {
  readonly #options: StorageOptions;

  constructor(options: StorageOptions) {
    super();
    this.#options = options;
  }

  async getState([subAgent, ...rest]: string[]): Promise<StorageState> {
    if (subAgent !== undefined) return (await this.#options.openSubAgent(subAgent)).getState(rest);
    const { queue, store } = await this.#options.open();
    return { ...this.#options.listSubAgents(), isBusy: queue.isBusy, removedAt: store.blobs.removedAt };
  }

  /** Lists a page of blobs. `source` is what was read so far: the conversation's, the files', their history's. */
  async listBlobs(
    [subAgent, ...rest]: string[],
    source: number,
    after: number,
  ): Promise<BlobPage & { sources: number }> {
    if (subAgent !== undefined) return (await this.#options.openSubAgent(subAgent)).listBlobs(rest, source, after);
    const { store, files } = await this.#options.open();
    const sources = [store.blobs, ...files.blobSources];
    return { blobs: [], ...sources[source]?.listBlobs(after), sources: sources.length };
  }

  async getDiskUsage(): Promise<DiskUsage> {
    const { disk, files } = await this.#options.open();
    const { databaseBytes, blobs } = await disk.readBytes();
    const { files: count, bytes } = files.workspace.getTotals();
    return {
      totalBytes: databaseBytes + blobs.bytes,
      databaseBytes,
      files: { files: count, bytes },
      branches: { ...files.workspace.branchUsage.getTotals(), branches: files.workspace.listBranches().length },
      blobs,
    };
  }
}
