import {
  type ArchiveQuery,
  type Branch,
  fail,
  type FileEdit,
  type FileEdits,
  type FileInfo,
  type FileListQuery,
  filePath,
  folderPath,
  type Landed,
  type Merge,
  type Merged,
  type NewBranch,
  type Origin,
  type Revert,
  type Version,
  type VersionDiff,
  type VersionQuery,
} from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import { archived, editsOf } from "../workspace/archive/archive.ts";
import { type Condition, isMet, isOneOf, unmet } from "../workspace/condition.ts";
import { isSame } from "../workspace/content.ts";
import { type Part, partOf, type Range } from "../workspace/range.ts";
import type { At, Workspace } from "../workspace/workspace.ts";
import { type Cargo, loaded, unloaded } from "./cargo.ts";

type On = Pick<At, "branch">;

interface Reading {
  condition?: Condition;
  range?: Range | undefined;
  only?: "info" | undefined;
}

export interface ReadFile {
  file: FileInfo;
  body?: Cargo;
  /** What of it the body is, if not all; no byte of it was asked for where it is outside. */
  part?: Part | "outside";
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
  async read(path: string, at: At, { condition = {}, range, only }: Reading = {}): Promise<ReadFile> {
    const workspace = await this.#open();
    const place = filePath(path);
    const file = workspace.stat(place, at);
    if (!file) throw missing(workspace, place, at);
    const { match, noneMatch } = condition;
    if (match !== undefined && !isOneOf(file, match)) throw unmet(place, file, { match });
    if (noneMatch !== undefined && isOneOf(file, noneMatch)) return { file, isKnown: true };
    if (only === "info") return { file };
    const isPart = range !== undefined && (range.of === undefined || range.of === file.hash);
    const part = isPart ? partOf(range, file.size) : { from: 0, to: file.size };
    if (!part) return { file, part: "outside" };
    // It was there a moment ago, and what is read of it is what it is now.
    const bytes = (await workspace.bytes(place, at)) ?? new Uint8Array();
    return { file, body: loaded(bytes.subarray(part.from, part.to)), ...(isPart ? { part } : {}) };
  }

  async write(path: string, cargo: Cargo, { branch, ...condition }: On & Condition, user: string): Promise<{ file: FileInfo; created: boolean }> {
    const workspace = await this.#open();
    const place = filePath(path);
    const bytes = await unloaded(cargo);
    const content = await workspace.keep(bytes, place);
    // From here to the commit nobody else gets a word in.
    const before = workspace.stat(place, { branch });
    // What is already as it should be was probably written by the same request, whose answer got lost.
    const done = condition.noneMatch === undefined && before !== undefined && isSame(workspace.content(place, { branch }), content);
    if (!done && !isMet(before, condition)) throw unmet(place, before, condition);
    commit(workspace, [{ write: place, content }], user, branch);
    return { file: workspace.stat(place, { branch }) as FileInfo, created: before === undefined };
  }

  async edit({ edits, base }: FileEdits, { branch }: On, user: string): Promise<Landed> {
    const workspace = await this.#open();
    const kept = await Promise.all(edits.map((edit) => storeEdit(workspace, edit)));
    if (base === undefined) return landed(commit(workspace, kept, user, branch));
    const { version, overlaps } = workspace.land(kept, base, by(user), { branch });
    return landed(version, overlaps);
  }

  async delete(path: string, { branch, recursive, ...condition }: On & Condition & { recursive: boolean }, user: string): Promise<void> {
    const workspace = await this.#open();
    const place = filePath(path);
    const file = workspace.stat(place, { branch });
    if (!isMet(file, condition)) throw unmet(place, file, condition);
    if (!file && !(recursive && isFolder(workspace, place, { branch }))) throw missing(workspace, place, { branch }, "delete it with `recursive`");
    commit(workspace, [{ delete: place }], user, branch);
  }

  async readArchive({ under, ...query }: ArchiveQuery): Promise<ReadableStream<Uint8Array>> {
    const workspace = await this.#open();
    const folder = under === undefined ? undefined : folderPath(under);
    if (folder && !isFolder(workspace, folder, query)) throw fail("not_found", `There is no folder “${folder}” in the workspace.`);
    return archived(workspace, { ...query, ...(folder ? { under: folder } : {}) });
  }

  async writeArchive(cargo: Cargo, { branch, replace }: On & { replace: boolean }, user: string): Promise<Landed> {
    const workspace = await this.#open();
    const edits = await editsOf(workspace, await unloaded(cargo), { branch, replace });
    return landed(commit(workspace, edits, user, branch));
  }

  async versions(query: VersionQuery): Promise<{ versions: Version[]; next?: number; oldest?: number }> {
    const workspace = await this.#open();
    return workspace.versions(query);
  }

  async diff(id: number, path?: string): Promise<VersionDiff> {
    const workspace = await this.#open();
    return workspace.diff(id, path);
  }

  async revert(order: Revert, user: string): Promise<Merged> {
    const workspace = await this.#open();
    return workspace.revert(order, by(user));
  }

  async branches(): Promise<Branch[]> {
    const workspace = await this.#open();
    return workspace.branches();
  }

  async createBranch(order: NewBranch, user: string): Promise<Branch> {
    const workspace = await this.#open();
    return workspace.createBranch(order, by(user));
  }

  async removeBranch(name: string, user: string): Promise<void> {
    const workspace = await this.#open();
    workspace.removeBranch(name, by(user));
  }

  async mergeBranch(name: string, order: Merge, user: string): Promise<Merged> {
    const workspace = await this.#open();
    return workspace.merge(name, order, by(user));
  }
}

function commit(workspace: Workspace, edits: readonly FileEdit[], user: string, branch: string | undefined): Version | undefined {
  return edits.length === 0 ? undefined : workspace.commit(edits, by(user), { branch }).version;
}

async function storeEdit(workspace: Workspace, edit: FileEdits["edits"][number]): Promise<FileEdit> {
  if ("delete" in edit) return { delete: filePath(edit.delete) };
  if ("move" in edit) return { move: filePath(edit.move), to: filePath(edit.to) };
  const path = filePath(edit.write);
  const content = "content" in edit ? wellFormed(edit.content, path) : Buffer.from(edit.base64, "base64");
  return { write: path, content: await workspace.keep(content, path) };
}

function isFolder(workspace: Workspace, path: string, at: At): boolean {
  return workspace.list({ ...at, under: path, limit: 1 }).files.length > 0;
}

function missing(workspace: Workspace, path: string, at: At, advice = `list it with \`?under=${encodeURIComponent(path)}\``): Error {
  if (isFolder(workspace, path, at)) return fail("bad_request", `“${path}” is a folder; ${advice}.`);
  return fail("not_found", `There is no file “${path}” in the workspace${at.version === undefined ? "" : ` as of version ${at.version}`}.`);
}

const by = (user: string): Origin => ({ kind: "user", user });

function landed(version: Version | undefined, overlaps: Landed["overlaps"] = []): Landed {
  return { ...(version ? { version } : {}), overlaps };
}

/** Half a character could not be written to a disk and read back. */
function wellFormed(text: string, path: string): string {
  if (text.isWellFormed()) return text;
  throw fail("bad_request", `What should be written to “${path}” is not well-formed text; send it as base64.`);
}
