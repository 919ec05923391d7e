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
import { createArchive, readArchiveEdits } from "../workspace/archive/archive.ts";
import { type Condition, isMet, isOneOf, createPreconditionError } from "../workspace/condition.ts";
import { isSameContent } from "../workspace/content.ts";
import { type ByteSpan, resolveRange, type ByteRange } from "../workspace/range.ts";
import type { VersionRef, Workspace } from "../workspace/workspace.ts";
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
  /** What of it the body is, if not all; no byte of it was asked for where it is outside. */
  part?: ByteSpan | "outside";
  /** The asker has it already. */
  isKnown?: boolean;
}

/** The workspace as users' requests read and change it. Every change is one version, with its user as the origin. */
export class FilesApi extends RpcTarget {
  readonly #open: () => Promise<Workspace>;

  constructor(open: () => Promise<Workspace>) {
    super();
    this.#open = open;
  }

  async list(query: FileListQuery): Promise<{ files: FileInfo[]; version: number; next?: string }> {
    const workspace = await this.#open();
    return workspace.list(query);
  }

  /** A file, and what is in it or in a part of it, unless the asker knows that already or only wants to hear of it. */
  async read(path: string, at: VersionRef, { condition = {}, range, only }: ReadOptions = {}): Promise<FileReadResult> {
    const workspace = await this.#open();
    const place = parseFilePath(path);
    const file = workspace.stat(place, at);
    if (!file) throw createMissingError(workspace, place, at);
    const { match, noneMatch } = condition;
    if (match !== undefined && !isOneOf(file, match)) throw createPreconditionError(place, file, { match });
    if (noneMatch !== undefined && isOneOf(file, noneMatch)) return { file, isKnown: true };
    if (only === "info") return { file };
    const isPart = range !== undefined && (range.of === undefined || range.of === file.hash);
    const part = isPart ? resolveRange(range, file.size) : { from: 0, to: file.size };
    if (!part) return { file, part: "outside" };
    // It was there a moment ago, and what is read of it is what it is now.
    const bytes = (await workspace.readFile(place, at)) ?? new Uint8Array();
    return { file, body: toTransfer(bytes.subarray(part.from, part.to)), ...(isPart ? { part } : {}) };
  }

  async write(
    path: string,
    cargo: Transfer,
    { branch, ...condition }: OnBranch & Condition,
    user: string,
  ): Promise<{ file: FileInfo; created: boolean }> {
    const workspace = await this.#open();
    const place = parseFilePath(path);
    const bytes = await readTransfer(cargo);
    const content = await workspace.store(bytes, place);
    // From here to the commit nobody else gets a word in.
    const before = workspace.stat(place, { branch });
    // What is already as it should be was probably written by the same request, whose answer got lost.
    const isDone =
      condition.noneMatch === undefined &&
      before !== undefined &&
      isSameContent(workspace.getContent(place, { branch }), content);
    if (!isDone && !isMet(before, condition)) throw createPreconditionError(place, before, condition);
    commit(workspace, [{ write: place, content }], user, branch);
    return { file: workspace.stat(place, { branch }) as FileInfo, created: before === undefined };
  }

  async edit({ edits, base }: FileEdits, { branch }: OnBranch, user: string): Promise<CommitResponse> {
    const workspace = await this.#open();
    const storedEdits = await Promise.all(edits.map((edit) => storeEdit(workspace, edit)));
    if (base === undefined) return toEditResult(commit(workspace, storedEdits, user, branch));
    const { version, overlaps } = workspace.rebaseEdits(storedEdits, base, toOrigin(user), { branch });
    return toEditResult(version, overlaps);
  }

  async delete(
    path: string,
    { branch, recursive, ...condition }: OnBranch & Condition & { recursive: boolean },
    user: string,
  ): Promise<void> {
    const workspace = await this.#open();
    const place = parseFilePath(path);
    const file = workspace.stat(place, { branch });
    if (!isMet(file, condition)) throw createPreconditionError(place, file, condition);
    if (!file && !(recursive && isFolder(workspace, place, { branch })))
      throw createMissingError(workspace, place, { branch }, "delete it with `recursive`");
    commit(workspace, [{ delete: place }], user, branch);
  }

  async readArchive({ under, ...query }: ArchiveQuery): Promise<ReadableStream<Uint8Array>> {
    const workspace = await this.#open();
    const folder = under === undefined ? undefined : parseFolderPath(under);
    if (folder && !isFolder(workspace, folder, query))
      throw fail("not_found", `There is no folder “${folder}” in the workspace.`);
    return createArchive(workspace, { ...query, ...(folder ? { under: folder } : {}) });
  }

  async writeArchive(
    cargo: Transfer,
    { branch, replace }: OnBranch & { replace: boolean },
    user: string,
  ): Promise<CommitResponse> {
    const workspace = await this.#open();
    const edits = await readArchiveEdits(workspace, await readTransfer(cargo), { branch, replace });
    return toEditResult(commit(workspace, edits, user, branch));
  }

  async listVersions(query: VersionQuery): Promise<{ versions: Version[]; next?: number; oldest?: number }> {
    const workspace = await this.#open();
    return workspace.listVersions(query);
  }

  async diff(id: number, path?: string): Promise<VersionDiff> {
    const workspace = await this.#open();
    return workspace.diff(id, path);
  }

  async revert(order: Revert, user: string): Promise<MergeResponse> {
    const workspace = await this.#open();
    return workspace.revert(order, toOrigin(user));
  }

  async listBranches(): Promise<Branch[]> {
    const workspace = await this.#open();
    return workspace.listBranches();
  }

  async createBranch(order: NewBranch, user: string): Promise<Branch> {
    const workspace = await this.#open();
    return workspace.createBranch(order, toOrigin(user));
  }

  async removeBranch(name: string, user: string): Promise<void> {
    const workspace = await this.#open();
    workspace.removeBranch(name, toOrigin(user));
  }

  async mergeBranch(name: string, order: Merge, user: string): Promise<MergeResponse> {
    const workspace = await this.#open();
    return workspace.merge(name, order, toOrigin(user));
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

function createMissingError(
  workspace: Workspace,
  path: string,
  at: VersionRef,
  advice = `list it with \`?under=${encodeURIComponent(path)}\``,
): Error {
  if (isFolder(workspace, path, at)) return fail("bad_request", `“${path}” is a folder; ${advice}.`);
  return fail(
    "not_found",
    `There is no file “${path}” in the workspace${at.version === undefined ? "" : ` as of version ${at.version}`}.`,
  );
}

const toOrigin = (user: string): Origin => ({ kind: "user", user });

function toEditResult(version: Version | undefined, overlaps: CommitResponse["overlaps"] = []): CommitResponse {
  return { ...(version ? { version } : {}), overlaps };
}

/** Half a character could not be written to a disk and read back. */
function checkWellFormed(text: string, path: string): string {
  if (text.isWellFormed()) return text;
  throw fail("bad_request", `What should be written to “${path}” is not well-formed text; send it as base64.`);
}
