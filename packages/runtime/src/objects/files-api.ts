import {
  type ArchiveQuery,
  type Branch,
  fail,
  type FileEdit,
  type FileEdits,
  type FileInfo,
  type FileListQuery,
  parseFilePath,
  parseFolderPath,
  type CommitResponse,
  type CommitResult,
  type Merge,
  type MergeResponse,
  type NewBranch,
  type Origin,
  type Revert,
  type Version,
  type VersionDiff,
  type VersionQuery,
} from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import { completeWork, Pacer } from "../host/fair-work.ts";
import { createArchive, readArchiveEdits } from "../workspace/archive/archive.ts";
import { type Condition, isMet, isOneOf, createPreconditionError } from "../workspace/condition.ts";
import { isSameContent } from "../workspace/content.ts";
import { isLarge } from "../workspace/edits.ts";
import { type ByteSpan, resolveRange, type ByteRange } from "../workspace/range.ts";
import { blobUnits } from "../workspace/stored-content.ts";
import type { VersionRef, Workspace } from "../workspace/workspace.ts";
import type { CheckedMerges } from "./checked-merges.ts";
import { type Transfer, toTransfer, readTransfer } from "./transfer.ts";

type OnBranch = Pick<VersionRef, "branch">;

interface ReadOptions {
  condition?: Condition;
  range?: ByteRange | undefined;
  only?: "info" | undefined;
}

export interface FileReadResult {
  file: FileInfo;
  body?: Transfer;
  /** The range in `body` if it is partial; “outside” if the requested range contains no bytes of the file. */
  part?: ByteSpan | "outside";
  /** The client has this content already. */
  isKnown?: boolean;
}

/** The workspace API for users' requests. Every change is one version, with the user as its origin. */
export class FilesApi extends RpcTarget {
  readonly #open: () => Promise<Workspace>;
  readonly #openMerges: () => Promise<CheckedMerges>;
  readonly #describeMissing: (path: string) => string;

  constructor(
    open: () => Promise<Workspace>,
    openMerges: () => Promise<CheckedMerges>,
    describeMissing = (path: string) => `File “${path}” not found in the workspace`,
  ) {
    super();
    this.#open = open;
    this.#openMerges = openMerges;
    this.#describeMissing = describeMissing;
  }

  async list(query: FileListQuery): Promise<{ files: FileInfo[]; version: number; next?: string }> {
    const workspace = await this.#open();
    return workspace.runFairly(() => workspace.planList(query));
  }

  /** Reads a file or a range of it; without content if the client has it already or only wants metadata. */
  async read(path: string, at: VersionRef, { condition = {}, range, only }: ReadOptions = {}): Promise<FileReadResult> {
    const workspace = await this.#open();
    const filePath = parseFilePath(path);
    const file = workspace.stat(filePath, at);
    if (!file) throw this.#createMissingError(workspace, filePath, at);
    const { match, noneMatch } = condition;
    if (match !== undefined && !isOneOf(file, match)) throw createPreconditionError(filePath, file, { match });
    if (noneMatch !== undefined && isOneOf(file, noneMatch)) return { file, isKnown: true };
    if (only === "info") return { file };
    const isPart = range !== undefined && (range.of === undefined || range.of === file.hash);
    const part = isPart ? resolveRange(range, file.size) : { from: 0, to: file.size };
    if (!part) return { file, part: "outside" };
    // The content was stat'ed above, so it is only missing if it was deleted in the meantime.
    const bytes = (await workspace.readFile(filePath, at)) ?? new Uint8Array();
    return { file, body: toTransfer(bytes.subarray(part.from, part.to)), ...(isPart ? { part } : {}) };
  }

  async write(
    path: string,
    transfer: Transfer,
    { branch, ...condition }: OnBranch & Condition,
    user: string,
  ): Promise<{ file: FileInfo; created: boolean }> {
    const workspace = await this.#open();
    const filePath = parseFilePath(path);
    const bytes = await readTransfer(transfer);
    const content = await workspace.store(bytes, filePath);
    await workspace.writeGate.pass();
    // Synchronous from here to the commit, so nothing can change in between.
    const before = workspace.stat(filePath, { branch });
    // Equal content was probably written by the same request, whose response got lost.
    const isWritten =
      condition.noneMatch === undefined &&
      before !== undefined &&
      isSameContent(workspace.getContent(filePath, { branch }), content);
    if (!isWritten && !isMet(before, condition)) throw createPreconditionError(filePath, before, condition);
    commit(workspace, [{ write: filePath, content }], user, branch);
    return { file: workspace.stat(filePath, { branch }) as FileInfo, created: before === undefined };
  }

  async edit({ edits, base }: FileEdits, { branch }: OnBranch, user: string): Promise<CommitResponse> {
    const workspace = await this.#open();
    const pacer = new Pacer(workspace.writeGate.owner);
    const storedEdits: FileEdit[] = [];
    for (const edit of edits) {
      if ("base64" in edit) await pacer.pauseIfDue(blobUnits);
      storedEdits.push(await storeEdit(workspace, edit));
    }
    const start = () =>
      base === undefined
        ? workspace.planCommit(storedEdits, toOrigin(user), { branch })
        : workspace.planRebase(storedEdits, base, toOrigin(user), { branch });
    if (isLarge(storedEdits)) return toEditResult(await workspace.runFairly(start));
    await workspace.writeGate.pass();
    return toEditResult(completeWork(start()));
  }

  async delete(
    path: string,
    { branch, recursive, ...condition }: OnBranch & Condition & { recursive: boolean },
    user: string,
  ): Promise<void> {
    const workspace = await this.#open();
    const filePath = parseFilePath(path);
    // Starts again if files change, so what is checked here holds until the commit.
    const createMissing = () => this.#createMissingError(workspace, filePath, { branch }, "Delete it with `recursive`");
    await workspace.runFairly(function* () {
      const file = workspace.stat(filePath, { branch });
      if (!isMet(file, condition)) throw createPreconditionError(filePath, file, condition);
      if (!file && !(recursive && isFolder(workspace, filePath, { branch }))) throw createMissing();
      yield* workspace.planCommit([{ delete: filePath }], toOrigin(user), { branch });
    });
  }

  async readArchive({ under, ...query }: ArchiveQuery): Promise<ReadableStream<Uint8Array>> {
    const workspace = await this.#open();
    const folder = under === undefined ? undefined : parseFolderPath(under);
    if (folder && !isFolder(workspace, folder, query))
      throw fail("not_found", `Folder “${folder}” not found in the workspace.`);
    return createArchive(workspace, { ...query, ...(folder ? { under: folder } : {}) });
  }

  async writeArchive(
    transfer: Transfer,
    { branch, replace }: OnBranch & { replace: boolean },
    user: string,
  ): Promise<CommitResponse> {
    const workspace = await this.#open();
    const edits = await readArchiveEdits(workspace, await readTransfer(transfer), { branch, replace });
    return toEditResult(
      edits.length === 0
        ? { overlaps: [] }
        : await workspace.runFairly(() => workspace.planCommit(edits, toOrigin(user), { branch })),
    );
  }

  async listVersions(query: VersionQuery): Promise<{ versions: Version[]; next?: number; oldest?: number }> {
    const workspace = await this.#open();
    return workspace.listVersions(query);
  }

  async diff(id: number, path?: string): Promise<VersionDiff> {
    const workspace = await this.#open();
    return workspace.runFairly(() => workspace.planDiff(id, path));
  }

  async revert(request: Revert, user: string): Promise<MergeResponse> {
    const workspace = await this.#open();
    return workspace.runFairly(() => workspace.planRevert(request, toOrigin(user)));
  }

  async listBranches(): Promise<Branch[]> {
    const workspace = await this.#open();
    return workspace.listBranches();
  }

  async createBranch(request: NewBranch, user: string): Promise<Branch> {
    const workspace = await this.#open();
    return workspace.runFairly(() => workspace.planBranch(request, toOrigin(user)));
  }

  async removeBranch(name: string, user: string): Promise<void> {
    const workspace = await this.#open();
    await workspace.runFairly(() => workspace.planBranchRemoval(name, toOrigin(user)));
  }

  async mergeBranch(name: string, request: Merge, user: string): Promise<MergeResponse> {
    await this.#open();
    const merges = await this.#openMerges();
    if (request.check !== undefined) await merges.authorize(request.check);
    const signal = new AbortController().signal;
    const { reason, ...merged } = await merges.merge({ branch: name, ...request, origin: toOrigin(user), signal });
    if (reason === undefined) return merged;
    throw fail("conflict", [`“${name}” was not merged: ${reason}`, merged.check?.output].filter(Boolean).join("\n"));
  }

  /** Returns the branch that a sub-agent works on: its own, or else that of one above it. */
  async findBranch(path: readonly string[]): Promise<string | undefined> {
    const names = (await this.#open()).listBranches().flatMap(({ id, by }) => (by.kind === "agent" ? [id] : []));
    return path.findLast((name) => names.includes(name));
  }

  #createMissingError(
    workspace: Workspace,
    path: string,
    at: VersionRef,
    advice = `List it with \`?under=${encodeURIComponent(path)}\``,
  ): Error {
    if (isFolder(workspace, path, at)) return fail("bad_request", `“${path}” is a folder. ${advice}.`);
    const version = at.version === undefined ? "" : ` at version ${at.version}`;
    return fail("not_found", `${this.#describeMissing(path)}${version}.`);
  }
}

function commit(
  workspace: Workspace,
  edits: readonly FileEdit[],
  user: string,
  branch: string | undefined,
): Version | undefined {
  return edits.length === 0 ? undefined : workspace.commit(edits, toOrigin(user), { branch }).version;
}

async function storeEdit(workspace: Workspace, edit: FileEdits["edits"][number]): Promise<FileEdit> {
  if ("delete" in edit) return { delete: parseFilePath(edit.delete) };
  if ("move" in edit) return { move: parseFilePath(edit.move), to: parseFilePath(edit.to) };
  const path = parseFilePath(edit.write);
  const content = "content" in edit ? checkWellFormed(edit.content, path) : Buffer.from(edit.base64, "base64");
  return { write: path, content: await workspace.store(content, path) };
}

function isFolder(workspace: Workspace, path: string, at: VersionRef): boolean {
  return workspace.list({ ...at, under: path, limit: 1 }).files.length > 0;
}

const toOrigin = (user: string): Origin => ({ kind: "user", user });

function toEditResult({ version, overlaps }: Pick<CommitResult, "version" | "overlaps">): CommitResponse {
  return { ...(version ? { version } : {}), overlaps };
}

/** Rejects lone surrogates, which would not survive a round trip to disk. */
function checkWellFormed(text: string, path: string): string {
  if (text.isWellFormed()) return text;
  throw fail("bad_request", `The content for “${path}” is not well-formed text. Send it as base64.`);
}
