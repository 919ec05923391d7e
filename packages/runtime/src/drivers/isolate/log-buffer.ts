import type { NewLogLine } from "../../store/code/code-log.ts";
import type { CodeStore } from "../../store/code/code-store.ts";
import type { JournalRequest } from "../../store/code/journal.ts";

interface LogBufferOptions {
  store: CodeStore;
  redact(text: string): string;
  version: number;
  runId?: string;
  request: JournalRequest | undefined;
}

/** Each write costs a disk sync. */
const flushDelayMs = 150;
const maxLines = 2000;
const maxChars = 2_000_000;
const maxLineChars = 20_000;

/** The log of one request. Lines that an interrupted run of the same request has logged are not repeated. */
export class LogBuffer {
  readonly #options: LogBufferOptions;
  #lines: NewLogLine[] = [];
  #count = 0;
  #chars = 0;
  /** The end of what was written to the console, without a line break. */
  #console = "";
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: LogBufferOptions) {
    this.#options = options;
  }

  add({ level, text }: NewLogLine): void {
    const { request, redact } = this.#options;
    this.#count++;
    if (this.#count <= (request?.logged ?? 0)) return;
    this.#chars += text.length;
    if (this.#count > maxLines || this.#chars > maxChars) {
      if (this.#count === maxLines + 1) this.#push({ level: "warn", text: "More lines of this request are left out." });
      return;
    }
    this.#push({ level, text: redact(text.slice(0, maxLineChars)) });
  }

  /** Adds what the code wrote to the console, line by line. */
  addConsole(text: string): void {
    const lines = (this.#console + text).split("\n");
    this.#console = (lines.pop() ?? "").slice(-maxLineChars);
    for (const line of lines) if (line) this.add({ level: "info", text: line });
  }

  close(): void {
    if (this.#console) this.add({ level: "info", text: this.#console });
    this.#console = "";
    this.flush();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#lines.length === 0) return;
    const { store, version, runId, request } = this.#options;
    store.log.add(this.#lines, version, runId);
    this.#lines = [];
    if (request) store.journal.noteLogged(request, Math.max(this.#count, request.logged));
  }

  #push(line: NewLogLine): void {
    this.#lines.push(line);
    this.#timer ??= setTimeout(() => this.flush(), flushDelayMs);
  }
}
