import { createHash } from "node:crypto";
import { fail, type Overlap } from "@thinkery/sdk";
import type { Remote, RemoteEdit } from "./sync-remote.ts";

/** A workspace in memory that behaves like a host's: what was changed since a version survives, and is kept beside. */
export class FakeRemote implements Remote {
  readonly versions: Map<string, Buffer>[] = [new Map()];
  workspace = "the first";
  /** Called before each request, as what other people do may come before it. */
  onRequest: () => void = () => {};
  readonly requests: string[] = [];
  #onChange: (() => void) | undefined;

  async list() {
    this.#record("list");
    return {
      workspace: this.workspace,
      version: this.version,
      files: [...this.now].map(([path, bytes]) => ({ path, hash: hashBytes(bytes) })),
    };
  }

  async get(path: string): Promise<Uint8Array> {
    this.#record(`get ${path}`);
    const bytes = this.now.get(path);
    if (!bytes) throw fail("not_found", "There is no such file.");
    return bytes;
  }

  async put(path: string, bytes: Uint8Array, condition: { ifMatch: string } | { isNew: true }): Promise<void> {
    this.#record(`put ${path}`);
    const there = this.now.get(path);
    const isMet =
      "isNew" in condition ? there === undefined : there !== undefined && hashBytes(there) === condition.ifMatch;
    if (!isMet) throw fail("precondition_failed", "It is another one now.");
    this.write({ [path]: Buffer.from(bytes) });
  }

  async edit(edits: readonly RemoteEdit[], base: number): Promise<{ overlaps: Overlap[] }> {
    this.#record(`edit ${edits.length}`);
    const next = new Map(this.now);
    const overlaps: Overlap[] = [];
    for (const [path, theirs] of edits.flatMap((edit) => this.#toChanges(edit, base))) {
      const [was, mine] = [this.versions[base]?.get(path), this.now.get(path)];
      if (isSame(mine, theirs)) continue;
      if (isSame(was, mine)) setFile(next, path, theirs);
      else if (mine === undefined && theirs) next.set(path, theirs);
      else if (theirs === undefined) overlaps.push({ path, reason: "It stays." });
      else {
        const kept = `${path}.kept-${hashBytes(theirs).slice(0, 6)}`;
        next.set(kept, theirs);
        overlaps.push({ path, kept, reason: "Both have changed it." });
      }
    }
    this.versions.push(next);
    return { overlaps };
  }

  async watch(onChange: () => void, signal: AbortSignal): Promise<void> {
    this.#onChange = onChange;
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  }

  /** What somebody else does there. */
  write(files: Record<string, string | Buffer | undefined>): void {
    const next = new Map(this.now);
    for (const [path, content] of Object.entries(files))
      setFile(next, path, content === undefined ? undefined : Buffer.from(content));
    this.versions.push(next);
    this.#onChange?.();
  }

  get version(): number {
    return this.versions.length - 1;
  }

  get now(): Map<string, Buffer> {
    return this.versions.at(-1) as Map<string, Buffer>;
  }

  get texts(): Record<string, string> {
    return Object.fromEntries([...this.now].map(([path, bytes]): [string, string] => [path, bytes.toString()]).sort());
  }

  #toChanges(edit: RemoteEdit, base: number): [path: string, content: Buffer | undefined][] {
    if ("write" in edit) return [[edit.write, Buffer.from(edit.bytes)]];
    if ("delete" in edit) return [[edit.delete, undefined]];
    this.requests.push(`move ${edit.move} ${edit.to}`);
    return [
      [edit.move, undefined],
      [edit.to, this.versions[base]?.get(edit.move)],
    ];
  }

  #record(what: string): void {
    this.onRequest();
    this.requests.push(what);
  }
}

function setFile(files: Map<string, Buffer>, path: string, bytes: Buffer | undefined): void {
  if (bytes) files.set(path, bytes);
  else files.delete(path);
}

function isSame(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one === undefined || other === undefined ? one === other : one.equals(other);
}

function hashBytes(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
