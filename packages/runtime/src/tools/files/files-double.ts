import { type FileContent, type FileInfo, type Files, type Found, type SearchOrder, type Tool, type ToolContext, type Version } from "@thinkery/sdk";
import { factsOf, textIn } from "../../workspace/content.ts";

/** The longest text that it keeps as text. */
const longestText = 100_000;

/** Files in memory, as a tool has them. Another person's changes come through `put`. */
export class FilesDouble implements Files {
  readonly stored = new Map<string, FileContent>();
  readonly blobs = new Map<string, Uint8Array>();
  readonly known = new Map<string, string>();
  readonly commits: string[][] = [];
  searched: SearchOrder[] = [];
  found: Found[] = [];
  more = false;
  /** What happens the next time that something has to be waited for. */
  meanwhile: (() => void) | undefined;
  readonly ending = new AbortController();

  constructor(files: Record<string, string | Uint8Array> = {}) {
    for (const [path, content] of Object.entries(files)) this.put(path, content);
  }

  put(path: string, content: string | Uint8Array): void {
    this.stored.set(path, this.#kept(content));
  }

  /** As a model calls it. */
  async call(tool: Tool, input: unknown): Promise<unknown> {
    const shell = { search: async (order: SearchOrder) => (this.searched.push(order), { found: this.found, more: this.more }) };
    return tool.run(tool.input.parse(input), { files: this, shell, signal: this.ending.signal } as unknown as ToolContext);
  }

  list(under?: string): FileInfo[] {
    const paths = [...this.stored.keys()].filter((path) => under === undefined || path.startsWith(`${under}/`));
    return paths.sort().map((path) => this.stat(path) as FileInfo);
  }

  stat(path: string): FileInfo | undefined {
    const content = this.stored.get(path);
    if (content === undefined) return undefined;
    const { hash, size, mediaType } = factsOf(content, path);
    return { path, kind: typeof content === "string" ? "text" : "binary", size, mediaType, hash, version: 1, modifiedAt: "" };
  }

  content(path: string): FileContent | undefined {
    return this.stored.get(path);
  }

  async text(path: string): Promise<string | undefined> {
    const bytes = await this.bytes(path);
    return bytes && textIn(bytes);
  }

  async bytes(path: string): Promise<Uint8Array | undefined> {
    const content = this.stored.get(path);
    await this.#wait();
    if (content === undefined) return undefined;
    return typeof content === "string" ? new TextEncoder().encode(content) : this.blobs.get(content.blob);
  }

  keep(content: string | Uint8Array): FileContent | Promise<FileContent> {
    const kept = this.#kept(content);
    return typeof kept === "string" ? kept : this.#wait().then(() => kept);
  }

  commit(edits: Parameters<Files["commit"]>[0]): Version | undefined {
    const done: string[] = [];
    for (const edit of edits) {
      if ("write" in edit) {
        if (this.stored.get(edit.write) !== edit.content) done.push(`write ${edit.write}`);
        this.stored.set(edit.write, edit.content);
        continue;
      }
      const from = "move" in edit ? edit.move : edit.delete;
      for (const [path, content] of [...this.stored].filter(([path]) => path === from || path.startsWith(`${from}/`))) {
        this.stored.delete(path);
        if ("move" in edit) this.stored.set(edit.to + path.slice(from.length), content);
      }
      done.push("move" in edit ? `move ${from} ${edit.to}` : `delete ${from}`);
    }
    if (done.length > 0) this.commits.push(done);
    return undefined;
  }

  seen(path: string): string | undefined {
    return this.known.get(path);
  }

  see(path: string): void {
    this.known.set(path, this.stat(path)?.hash ?? "");
  }

  async #wait(): Promise<void> {
    await Promise.resolve();
    const { meanwhile } = this;
    this.meanwhile = undefined;
    meanwhile?.();
  }

  #kept(content: string | Uint8Array): FileContent {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    const text = textIn(bytes);
    if (text !== undefined && bytes.length <= longestText) return text;
    const blob = factsOf(Buffer.from(bytes).toString("latin1"), "").hash;
    this.blobs.set(blob, bytes);
    return { blob, size: bytes.length, mediaType: text === undefined ? "application/octet-stream" : "text/plain" };
  }
}
