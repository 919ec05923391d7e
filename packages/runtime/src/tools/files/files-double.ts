import type {
  CommitResult,
  FileCommitOptions,
  FileContent,
  FileEdit,
  FileInfo,
  Files,
  FileSnapshot,
  SearchMatch,
  SearchRequest,
  Tool,
  ToolContext,
} from "@thinkery/sdk";
import { getContentInfo, decodeText } from "../../workspace/content.ts";
import { createPatch } from "../../workspace/text/patch.ts";

/** Larger texts are stored as blobs. */
const maxTextBytes = 100_000;

/** In-memory files for testing tools. `put` simulates changes by others. */
export class FilesDouble implements Files {
  readonly stored = new Map<string, FileContent>();
  readonly blobs = new Map<string, Uint8Array>();
  readonly seenHashes = new Map<string, string>();
  readonly commits: string[][] = [];
  searches: SearchRequest[] = [];
  found: SearchMatch[] = [];
  more = false;
  /** Called at the next asynchronous wait. */
  onNextWait: (() => void) | undefined;
  readonly abortController = new AbortController();

  constructor(files: Record<string, string | Uint8Array> = {}) {
    for (const [path, content] of Object.entries(files)) this.put(path, content);
  }

  put(path: string, content: string | Uint8Array): void {
    this.stored.set(path, this.#toContent(content));
  }

  /** Calls a tool like a model does. */
  async call(tool: Tool, input: unknown): Promise<unknown> {
    const shell = {
      search: async (request: SearchRequest) => (this.searches.push(request), { found: this.found, more: this.more }),
    };
    return tool.execute(tool.inputSchema.parse(input), {
      files: this,
      shell,
      signal: this.abortController.signal,
    } as unknown as ToolContext);
  }

  async list({ under }: { under?: string | undefined } = {}): Promise<FileInfo[]> {
    const paths = [...this.stored.keys()].filter((path) => under === undefined || path.startsWith(`${under}/`));
    return paths.sort().map((path) => this.getInfo(path) as FileInfo);
  }

  getInfo(path: string): FileInfo | undefined {
    const content = this.stored.get(path);
    if (content === undefined) return undefined;
    const { hash, size, mediaType } = getContentInfo(content, path);
    return {
      path,
      kind: typeof content === "string" ? "text" : "binary",
      size,
      mediaType,
      hash,
      version: 1,
      modifiedAt: "",
    };
  }

  async stat(path: string): Promise<FileInfo | undefined> {
    return this.getInfo(path);
  }

  async read(path: string): Promise<FileSnapshot | undefined> {
    const file = this.getInfo(path);
    const seenHash = this.seenHashes.get(path);
    const content = this.stored.get(path);
    if (!file || content === undefined) return undefined;
    return { file, content, ...(seenHash === undefined ? {} : { seenHash }) };
  }

  async readBytes(content: FileContent): Promise<Uint8Array> {
    await this.#wait();
    return typeof content === "string"
      ? new TextEncoder().encode(content)
      : (this.blobs.get(content.blob) ?? new Uint8Array());
  }

  async store(content: string | Uint8Array): Promise<FileContent> {
    const stored = this.#toContent(content);
    if (typeof stored !== "string") await this.#wait();
    return stored;
  }

  async commit(
    edits: readonly FileEdit[],
    { expected = {}, seen = false }: FileCommitOptions = {},
  ): Promise<CommitResult> {
    const stale = Object.keys(expected).find((path) => (this.getInfo(path)?.hash ?? null) !== expected[path]);
    if (stale !== undefined) return { stale, overlaps: [], patches: [] };
    const applied: string[] = [];
    const patches: CommitResult["patches"] = [];
    for (const edit of edits) {
      if ("write" in edit) {
        const before = this.stored.get(edit.write);
        if (before !== edit.content) applied.push(`write ${edit.write}`);
        if (typeof before === "string" && typeof edit.content === "string")
          patches.push({ path: edit.write, patch: createPatch(before, edit.content) });
        this.stored.set(edit.write, edit.content);
        if (seen) this.see(edit.write);
        continue;
      }
      const from = "move" in edit ? edit.move : edit.delete;
      for (const [path, content] of [...this.stored].filter(([path]) => path === from || path.startsWith(`${from}/`))) {
        const isKnown = this.seenHashes.get(path) === this.getInfo(path)?.hash;
        this.stored.delete(path);
        if (!("move" in edit)) continue;
        const to = edit.to + path.slice(from.length);
        this.stored.set(to, content);
        if (seen && isKnown) this.see(to);
      }
      applied.push("move" in edit ? `move ${from} ${edit.to}` : `delete ${from}`);
    }
    if (applied.length > 0) this.commits.push(applied);
    return { overlaps: [], patches };
  }

  see(path: string): void {
    this.seenHashes.set(path, this.getInfo(path)?.hash ?? "");
  }

  async markSeen(path: string, hash: string): Promise<void> {
    this.seenHashes.set(path, hash);
  }

  async #wait(): Promise<void> {
    await Promise.resolve();
    const { onNextWait } = this;
    this.onNextWait = undefined;
    onNextWait?.();
  }

  #toContent(content: string | Uint8Array): FileContent {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    const text = decodeText(bytes);
    if (text !== undefined && bytes.length <= maxTextBytes) return text;
    const blob = getContentInfo(Buffer.from(bytes).toString("latin1"), "").hash;
    this.blobs.set(blob, bytes);
    return { blob, size: bytes.length, mediaType: text === undefined ? "application/octet-stream" : "text/plain" };
  }
}
