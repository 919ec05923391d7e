import {
  type Branch,
  type CommitResult,
  type FileContent,
  type FileInfo,
  type FileSnapshot,
  mainBranch,
  type Origin,
} from "@thinkery/sdk";
import type { WorkspaceLimits } from "@thinkery/sdk/internal";
import { completeWork } from "../host/fair-work.ts";
import type { BranchMerge, MergePreview } from "./branch-merge.ts";
import { isLarge } from "./edits.ts";
import type {
  ChangesQuery,
  CommitRequest,
  LocalCommitOptions,
  MergeRequest,
  WorkspaceChanges,
  WorkspacePort,
} from "./workspace-port.ts";
import type { VersionRef, Workspace } from "./workspace.ts";

/** A reader that is further behind than this gets all files. */
const maxChangedFiles = 2000;

/** A workspace stored in this agent's own object. */
export class LocalWorkspace implements WorkspacePort {
  readonly isLocal = true;
  readonly #workspace: Workspace;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  get limits(): WorkspaceLimits {
    return this.#workspace.limits;
  }

  async latest(branch?: string): Promise<number> {
    return this.#workspace.latest(branch);
  }

  async list(query: VersionRef & { under?: string | undefined } = {}): Promise<{ files: FileInfo[]; version: number }> {
    const { files, version } = this.#workspace.list(query);
    return { files, version };
  }

  async stat(path: string, at: VersionRef = {}): Promise<FileInfo | undefined> {
    return this.#workspace.stat(path, at);
  }

  async read(path: string, { branch, version }: VersionRef = {}): Promise<FileSnapshot | undefined> {
    const current = this.#workspace.stat(path, { branch });
    // A file that has not changed since is read directly: its history may have been pruned.
    const isCurrent = version === undefined || (current !== undefined && current.version <= version);
    const at: VersionRef = isCurrent ? { branch } : { branch, version };
    const file = isCurrent ? current : this.#workspace.stat(path, at);
    const content = file && this.#workspace.getContent(path, at);
    if (!file || content === undefined) return undefined;
    const seenHash = this.#workspace.seen.get(branch ?? mainBranch, file.path);
    return { file, content, ...(seenHash === undefined ? {} : { seenHash }) };
  }

  readBytes(content: FileContent, path: string): Promise<Uint8Array> {
    return this.#workspace.readBytes(content, path);
  }

  async store(content: string | Uint8Array, path: string): Promise<FileContent> {
    return this.#workspace.store(content, path);
  }

  async commit(
    { edits, origin, base, partial, ...request }: CommitRequest,
    { record }: LocalCommitOptions = {},
  ): Promise<CommitResult> {
    const options = { ...request, ...(record ? { record } : {}) };
    const workspace = this.#workspace;
    const start = () =>
      base === undefined
        ? workspace.planCommit(edits, origin, options)
        : workspace.planRebase(edits, base, origin, { ...options, dropInvalid: partial ?? false });
    if (isLarge(edits)) return workspace.runFairly(start);
    await workspace.writeGate.pass();
    return completeWork(start());
  }

  async changes({ since, branch, maxTextBytes }: ChangesQuery): Promise<WorkspaceChanges> {
    const version = this.#workspace.latest(branch);
    if (since === version) return { version, base: since, files: [], deleted: [] };
    const paths = since === undefined ? undefined : this.#workspace.listChangedSince(since, branch);
    if (since === undefined || !paths || paths.length > maxChangedFiles) {
      return { version, files: this.#listAllFiles(branch, maxTextBytes), deleted: [] };
    }
    const deleted: string[] = [];
    const changed = paths.flatMap((path) => {
      const file = this.#workspace.stat(path, { branch });
      if (!file) deleted.push(path);
      return file ?? [];
    });
    return { version, base: since, files: this.#attachText(changed, branch, maxTextBytes), deleted };
  }

  async markSeen(path: string, hash: string, branch = mainBranch): Promise<void> {
    this.#workspace.seen.mark(branch, path, hash);
  }

  async listBranches(): Promise<Branch[]> {
    return this.#workspace.listBranches();
  }

  async createBranch({ name, from }: { name: string; from?: string | undefined }, origin: Origin): Promise<Branch> {
    const workspace = this.#workspace;
    return workspace.runFairly(function* () {
      const existing = workspace.listBranches().find(({ id }) => id === name);
      return existing && isSameOrigin(existing.by, origin)
        ? existing
        : yield* workspace.planBranch({ name, from }, origin);
    });
  }

  async removeBranch(name: string, origin: Origin): Promise<void> {
    const workspace = this.#workspace;
    await workspace.runFairly(function* () {
      if (workspace.listBranches().some(({ id }) => id === name)) yield* workspace.planBranchRemoval(name, origin);
    });
  }

  async previewMerge(name: string, into?: string): Promise<MergePreview> {
    return this.#workspace.runFairly(() => this.#workspace.planPreview(name, into));
  }

  async merge(name: string, request: MergeRequest, origin: Origin): Promise<BranchMerge> {
    return this.#workspace.runFairly(() => this.#workspace.planMerge(name, request, origin));
  }

  #listAllFiles(branch: string | undefined, maxTextBytes: number): WorkspaceChanges["files"] {
    if (this.#workspace.getTotals(branch).textBytes > maxTextBytes) {
      return this.#attachText(this.#workspace.list({ branch }).files, branch, maxTextBytes);
    }
    return Array.from(this.#workspace.iterateContents(branch), ({ info: file, content }) =>
      typeof content === "string" ? { file, text: content } : { file },
    );
  }

  #attachText(files: FileInfo[], branch: string | undefined, maxTextBytes: number): WorkspaceChanges["files"] {
    let remainingBytes = maxTextBytes;
    return files
      .sort((a, b) => a.size - b.size)
      .map((file) => {
        if (file.kind !== "text" || (remainingBytes -= file.size) < 0) return { file };
        const content = this.#workspace.getContent(file.path, { branch });
        return typeof content === "string" ? { file, text: content } : { file };
      });
  }
}

const isSameOrigin = (one: Origin, other: Origin) =>
  one.kind === other.kind && one.agent === other.agent && one.toolCall === other.toolCall;
