import type { Branch, CommitResult, FileInfo, FileSnapshot, Origin } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { BranchMerge, MergePreview } from "../workspace/branch-merge.ts";
import type { LocalWorkspace } from "../workspace/local-workspace.ts";
import type { WorkspaceEndpoint } from "../workspace/remote-workspace.ts";
import type { ChangesQuery, CommitRequest, MergeRequest, WorkspaceChanges } from "../workspace/workspace-port.ts";
import type { VersionRef } from "../workspace/workspace.ts";

/** The workspace API for sub-agents; see `RemoteWorkspace`. Users' requests go through `FilesApi`. */
export class WorkspaceApi extends RpcTarget implements WorkspaceEndpoint {
  readonly #open: () => Promise<LocalWorkspace>;

  constructor(open: () => Promise<LocalWorkspace>) {
    super();
    this.#open = open;
  }

  async latest(branch?: string): Promise<number> {
    return (await this.#open()).latest(branch);
  }

  async list(query?: VersionRef & { under?: string | undefined }): Promise<{ files: FileInfo[]; version: number }> {
    return (await this.#open()).list(query);
  }

  async stat(path: string, at?: VersionRef): Promise<FileInfo | undefined> {
    return (await this.#open()).stat(path, at);
  }

  async read(path: string, at?: VersionRef): Promise<FileSnapshot | undefined> {
    return (await this.#open()).read(path, at);
  }

  async commit(request: CommitRequest): Promise<CommitResult> {
    return (await this.#open()).commit(request);
  }

  async changes(query: ChangesQuery): Promise<WorkspaceChanges> {
    return (await this.#open()).changes(query);
  }

  async markSeen(path: string, hash: string, branch?: string): Promise<void> {
    return (await this.#open()).markSeen(path, hash, branch);
  }

  async listBranches(): Promise<Branch[]> {
    return (await this.#open()).listBranches();
  }

  async createBranch(branch: { name: string; from?: string | undefined }, origin: Origin): Promise<Branch> {
    return (await this.#open()).createBranch(branch, origin);
  }

  async removeBranch(name: string, origin: Origin): Promise<void> {
    await (await this.#open()).removeBranch(name, origin);
  }

  async previewMerge(name: string, into?: string): Promise<MergePreview> {
    return (await this.#open()).previewMerge(name, into);
  }

  async merge(name: string, request: MergeRequest, origin: Origin): Promise<BranchMerge> {
    return (await this.#open()).merge(name, request, origin);
  }
}
