import type { Branch, CommitResult, FileContent, FileInfo, FileSnapshot, Origin } from "@thinkery/sdk";
import type { WorkspaceLimits } from "@thinkery/sdk/internal";
import type { Blobs } from "../store/blobs/blobs.ts";
import type { BranchMerge, MergePreview } from "./branch-merge.ts";
import { readContent, storeContent } from "./stored-content.ts";
import type { ChangesQuery, CommitRequest, MergeRequest, WorkspaceChanges, WorkspacePort } from "./workspace-port.ts";
import type { VersionRef } from "./workspace.ts";

/** The RPC interface of the object that stores the files. Blobs are shared by all objects, so they are never sent. */
export type WorkspaceEndpoint = Omit<WorkspacePort, "limits" | "isLocal" | "commit" | "readBytes" | "store"> & {
  commit(request: CommitRequest): Promise<CommitResult>;
};

interface RemoteWorkspaceOptions {
  /** Opens the owner's endpoint. Called again for each attempt: a disconnected stub does not recover. */
  connect(): WorkspaceEndpoint;
  blobs: Blobs;
  limits: WorkspaceLimits;
}

/** Delays before each retry after a lost connection; the owner may have been restarted. */
const retryDelaysMs = [10, 100, 1000];

/** A workspace stored in another agent's object. */
export class RemoteWorkspace implements WorkspacePort {
  readonly isLocal = false;
  readonly limits: WorkspaceLimits;
  readonly #options: RemoteWorkspaceOptions;

  constructor(options: RemoteWorkspaceOptions) {
    this.limits = options.limits;
    this.#options = options;
  }

  latest(branch?: string): Promise<number> {
    return this.#call((owner) => owner.latest(branch));
  }

  list(query?: VersionRef & { under?: string | undefined }): Promise<{ files: FileInfo[]; version: number }> {
    return this.#call((owner) => owner.list(query));
  }

  stat(path: string, at?: VersionRef): Promise<FileInfo | undefined> {
    return this.#call((owner) => owner.stat(path, at));
  }

  read(path: string, at?: VersionRef): Promise<FileSnapshot | undefined> {
    return this.#call((owner) => owner.read(path, at));
  }

  readBytes(content: FileContent, path: string): Promise<Uint8Array> {
    return readContent(content, path, this.#options.blobs);
  }

  async store(content: string | Uint8Array, path: string): Promise<FileContent> {
    return storeContent(content, path, this.#options);
  }

  commit(request: CommitRequest): Promise<CommitResult> {
    // Without a key, a commit whose response was lost cannot be told apart from one that was never made.
    const keyed = { ...request, key: request.key ?? crypto.randomUUID() };
    return this.#call((owner) => owner.commit(keyed));
  }

  changes(query: ChangesQuery): Promise<WorkspaceChanges> {
    return this.#call((owner) => owner.changes(query));
  }

  markSeen(path: string, hash: string, branch?: string): Promise<void> {
    return this.#call((owner) => owner.markSeen(path, hash, branch));
  }

  listBranches(): Promise<Branch[]> {
    return this.#call((owner) => owner.listBranches());
  }

  createBranch(branch: { name: string; from?: string | undefined }, origin: Origin): Promise<Branch> {
    return this.#call((owner) => owner.createBranch(branch, origin));
  }

  removeBranch(name: string, origin: Origin): Promise<void> {
    return this.#call((owner) => owner.removeBranch(name, origin));
  }

  previewMerge(name: string, into?: string): Promise<MergePreview> {
    return this.#call((owner) => owner.previewMerge(name, into));
  }

  merge(name: string, request: MergeRequest, origin: Origin): Promise<BranchMerge> {
    // Without a key, a merge whose response was lost would report nothing the second time.
    const keyed = { ...request, key: request.key ?? crypto.randomUUID() };
    return this.#call((owner) => owner.merge(name, keyed, origin));
  }

  async #call<T>(invoke: (owner: WorkspaceEndpoint) => Promise<T>): Promise<T> {
    for (const delayMs of retryDelaysMs) {
      try {
        return await invoke(this.#options.connect());
      } catch (error) {
        if (!isDisconnected(error)) throw error;
        await new Promise((resolve) => setTimeout(resolve, delayMs));
      }
    }
    return invoke(this.#options.connect());
  }
}

/** workerd marks errors that occurred in transit rather than in the callee. */
function isDisconnected(error: unknown): boolean {
  return (
    error instanceof Error &&
    ((error as { retryable?: boolean }).retryable === true || /disconnected|broken/i.test(error.message))
  );
}
