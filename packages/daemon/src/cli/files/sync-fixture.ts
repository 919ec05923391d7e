import { createHash } from "node:crypto";
import { fail, type Overlap } from "@thinkery/sdk";
import type { Remote, RemoteEdit } from "./sync-remote.ts";

/** An in-memory workspace that behaves like a host's: concurrent changes survive, and conflicts are kept as copies. */
export class FakeRemote implements Remote {
  readonly versions: Map<string, Buffer>[] = [new Map()];
  workspace = "the first";
  /** Called before each request, to simulate concurrent changes. */
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
    if (!bytes) throw fail("not_found", "File not found.");
    return bytes;
  }

  async put(path: string, bytes: Uint8Array, condition: { ifMatch: string } | { isNew: true }): Promise<void> {
    this.#record(`put ${path}`);
    const current = this.now.get(path);
    const isMet =
      "isNew" in condition ? current === undefined : current !== undefined && hashBytes(current) === condition.ifMatch;
    if (!isMet) throw fail("precondition_failed", "The file has changed.");
    this.write({ [path]: Buffer.from(bytes) });
  }

  async edit(edits: readonly RemoteEdit[], base: number): Promise<{ overlaps: Overlap[] }> {
    this.#record(`edit ${edits.length}`);
    const next = new Map(this.now);
    const overlaps: Overlap[] = [];
    for (const [path, theirs] of edits.flatMap((edit) => this.#toChanges(edit, base))) {
      const [baseContent, mine] = [this.versions[base]?.get(path), this.now.get(path)];
      if (isSame(mine, theirs)) continue;
      if (isSame(baseContent, mine)) setFile(next, path, theirs);
      else if (mine === undefined && theirs) next.set(path, theirs);
      else if (theirs === undefined) overlaps.push({ path, reason: "It was not deleted." });
      else {
        const conflictCopy = `${path}.kept-${hashBytes(theirs).slice(0, 6)}`;
        next.set(conflictCopy, theirs);
        overlaps.push({ path, conflictCopy, reason: "Both sides changed it." });
      }
    }
    this.versions.push(next);
    return { overlaps };
  }

  async watch(onChange: () => void, signal: AbortSignal): Promise<void> {
    this.#onChange = onChange;
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  }

  /** Simulates a change by another client. */
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

  #record(request: string): void {
    this.onRequest();
    this.requests.push(request);
  }
}

function setFile(files: Map<string, Buffer>, path: string, bytes: Buffer | undefined): void {
  if (bytes) files.set(path, bytes);
  else files.delete(path);
}

function isSame(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.equals(b);
}

function hashBytes(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
