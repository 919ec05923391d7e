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
import { archived, editsOf } from "../workspace/archive/archive.ts";
import { type Condition, isMet, isOneOf, unmet } from "../workspace/condition.ts";
import { isSame } from "../workspace/content.ts";
import { type Part, partOf, type Range } from "../workspace/range.ts";
import type { At, Workspace } from "../workspace/workspace.ts";
import { type Cargo, loaded, unloaded } from "./cargo.ts";
import { Housed } from "./housed.ts";

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

/** What a workspace offers to whoever may enter its agent. Every change is one version, with its user as the origin. */
export abstract class WithFiles<State> extends Housed<State> {
  protected abstract readonly workspace: Workspace;

  /** There is such an agent, and it is awake. */
  protected abstract open(): Promise<void>;

  async listFiles(query: FileListQuery): Promise<{ files: FileInfo[]; version: number; next?: string }> {
    await this.open();
    return this.workspace.list(query);
  }

  /** A file, and what is in it or in a part of it, unless the asker knows that already or only wants to hear of it. */
  async readFile(path: string, at: At, { condition = {}, range, only }: Reading = {}): Promise<ReadFile> {
    await this.open();
    const place = filePath(path);
    const file = this.workspace.stat(place, at);
    if (!file) throw this.#missing(place, at);
    const { match, noneMatch } = condition;
    if (match !== undefined && !isOneOf(file, match)) throw unmet(place, file, { match });
    if (noneMatch !== undefined && isOneOf(file, noneMatch)) return { file, isKnown: true };
    if (only === "info") return { file };
    const isPart = range !== undefined && (range.of === undefined || range.of === file.hash);
    const part = isPart ? partOf(range, file.size) : { from: 0, to: file.size };
    if (!part) return { file, part: "outside" };
    // It was there a moment ago, and what is read of it is what it is now.
    const bytes = (await this.workspace.bytes(place, at)) ?? new Uint8Array();
    return { file, body: loaded(bytes.subarray(part.from, part.to)), ...(isPart ? { part } : {}) };
  }

  async writeFile(path: string, cargo: Cargo, { branch, ...condition }: On & Condition, user: string): Promise<{ file: FileInfo; created: boolean }> {
    await this.open();
    const place = filePath(path);
    const bytes = await unloaded(cargo);
    const content = await this.workspace.keep(bytes, place);
    // From here to the commit nobody else gets a word in.
    const before = this.workspace.stat(place, { branch });
    // What is already as it should be was probably written by the same request, whose answer got lost.
    const done = condition.noneMatch === undefined && before !== undefined && isSame(this.workspace.content(place, { branch }), content);
    if (!done && !isMet(before, condition)) throw unmet(place, before, condition);
    this.#commit([{ write: place, content }], user, branch);
    return { file: this.workspace.stat(place, { branch }) as FileInfo, created: before === undefined };
  }

  async editFiles({ edits, base }: FileEdits, { branch }: On, user: string): Promise<Landed> {
    await this.open();
    const kept = await Promise.all(edits.map((edit) => this.#kept(edit)));
    if (base === undefined) return landed(this.#commit(kept, user, branch));
    const { version, overlaps } = this.workspace.land(kept, base, by(user), { branch });
    return { ...(version ? { version } : {}), overlaps };
  }

  async deleteFile(path: string, { branch, recursive, ...condition }: On & Condition & { recursive: boolean }, user: string): Promise<void> {
    await this.open();
    const place = filePath(path);
    const file = this.workspace.stat(place, { branch });
    if (!isMet(file, condition)) throw unmet(place, file, condition);
    if (!file && !(recursive && this.#isFolder(place, { branch }))) throw this.#missing(place, { branch }, "delete it with `recursive`");
    this.#commit([{ delete: place }], user, branch);
  }

  async readArchive({ under, ...query }: ArchiveQuery): Promise<ReadableStream<Uint8Array>> {
    await this.open();
    const folder = under === undefined ? undefined : folderPath(under);
    if (folder && !this.#isFolder(folder, query)) throw fail("not_found", `There is no folder “${folder}” in the workspace.`);
    return archived(this.workspace, { ...query, ...(folder ? { under: folder } : {}) });
  }

  async writeArchive(cargo: Cargo, { branch, replace }: On & { replace: boolean }, user: string): Promise<Landed> {
    await this.open();
    const edits = await editsOf(this.workspace, await unloaded(cargo), { branch, replace });
    return landed(this.#commit(edits, user, branch));
  }

  async listVersions(query: VersionQuery): Promise<{ versions: Version[]; next?: number; oldest?: number }> {
    await this.open();
    return this.workspace.versions(query);
  }

  async readVersion(id: number, path?: string): Promise<VersionDiff> {
    await this.open();
    return this.workspace.diff(id, path);
  }

  async revert(order: Revert, user: string): Promise<Merged> {
    await this.open();
    return this.workspace.revert(order, by(user));
  }

  async listBranches(): Promise<Branch[]> {
    await this.open();
    return this.workspace.branches();
  }

  async createBranch(order: NewBranch, user: string): Promise<Branch> {
    await this.open();
    return this.workspace.createBranch(order, by(user));
  }

  async removeBranch(name: string, user: string): Promise<void> {
    await this.open();
    this.workspace.removeBranch(name, by(user));
  }

  async mergeBranch(name: string, order: Merge, user: string): Promise<Merged> {
    await this.open();
    return this.workspace.merge(name, order, by(user));
  }

  #commit(edits: readonly FileEdit[], user: string, branch: string | undefined): Version | undefined {
    return edits.length === 0 ? undefined : this.workspace.commit(edits, by(user), { branch }).version;
  }

  async #kept(edit: FileEdits["edits"][number]): Promise<FileEdit> {
    if ("delete" in edit) return { delete: filePath(edit.delete) };
    if ("move" in edit) return { move: filePath(edit.move), to: filePath(edit.to) };
    const path = filePath(edit.write);
    const content = "content" in edit ? wellFormed(edit.content, path) : Buffer.from(edit.base64, "base64");
    return { write: path, content: await this.workspace.keep(content, path) };
  }

  #isFolder(path: string, at: At): boolean {
    return this.workspace.list({ ...at, under: path, limit: 1 }).files.length > 0;
  }

  #missing(path: string, at: At, advice = `list it with \`?under=${encodeURIComponent(path)}\``): Error {
    if (this.#isFolder(path, at)) return fail("bad_request", `“${path}” is a folder; ${advice}.`);
    return fail("not_found", `There is no file “${path}” in the workspace${at.version === undefined ? "" : ` as of version ${at.version}`}.`);
  }
}

const by = (user: string): Origin => ({ kind: "user", user });

function landed(version: Version | undefined): Landed {
  return { ...(version ? { version } : {}), overlaps: [] };
}

/** Half a character could not be written to a disk and read back. */
function wellFormed(text: string, path: string): string {
  if (text.isWellFormed()) return text;
  throw fail("bad_request", `What should be written to “${path}” is not well-formed text; send it as base64.`);
}
