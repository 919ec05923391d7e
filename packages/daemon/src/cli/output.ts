import { toErrorBody, fail, isThinkeryError } from "@thinkery/sdk";
import { LiveArea } from "./live-area.ts";

export interface Sink {
  write(text: string | Uint8Array): unknown;
  isTTY?: boolean;
  columns?: number;
}

interface OutputOptions {
  stdout: Sink;
  stderr: Sink;
  env: Readonly<Record<string, string | undefined>>;
  json: boolean;
}

/** Command output: replies go to stdout, everything else to stderr. */
export class Output {
  readonly isJson: boolean;
  private readonly stdout: Sink;
  private readonly stderr: Sink;
  private readonly hasColor: boolean;
  private readonly hasStderrColor: boolean;
  /** Whether stdout is a terminal. */
  readonly isTTY: boolean;
  readonly isStderrTTY: boolean;
  private liveArea: LiveArea | undefined;

  constructor(options: OutputOptions) {
    this.isJson = options.json;
    this.stdout = options.stdout;
    this.stderr = options.stderr;
    this.isTTY = options.stdout.isTTY === true;
    this.isStderrTTY = options.stderr.isTTY === true;
    this.hasColor = this.isTTY && !options.env.NO_COLOR;
    this.hasStderrColor = this.isStderrTTY && !options.env.NO_COLOR;
  }

  /** Writes the reply of a command: as JSON with --json, otherwise as text. */
  reply(value: unknown, toText: () => string): void {
    if (this.isJson) return this.writeJson(value);
    const text = toText();
    if (text !== "") this.stdout.write(`${text}\n`);
  }

  /** Writes a reply that is always JSON. */
  writeJson(value: unknown): void {
    this.stdout.write(`${stringify(value)}\n`);
  }

  /** Writes one line of JSON Lines, for streamed replies. */
  writeJsonLine(value: unknown): void {
    this.stdout.write(`${stringify(value, 0)}\n`);
  }

  /** Writes a reply that is always text. */
  writeText(text: string): void {
    this.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
  }

  /** Writes a chunk of a streamed reply. */
  writeChunk(text: string): void {
    this.liveArea?.erase();
    this.stdout.write(text);
    this.liveArea?.draw();
  }

  /** Writes the raw bytes of a file. */
  writeBytes(data: Uint8Array): void {
    this.stdout.write(data);
  }

  /** Writes a line to stderr. */
  writeMessage(line: string): void {
    this.liveArea?.erase();
    this.stderr.write(`${line}\n`);
    this.liveArea?.draw();
  }

  /** Writes a dimmed line with untrusted text to stderr. */
  writeNote(line: string): void {
    this.writeMessage(this.formatNote(line));
  }

  private formatNote(line: string): string {
    const text = sanitize(line).replaceAll("\n", " ");
    return this.hasStderrColor ? dim(text) : text;
  }

  /**
   * Keeps lines with untrusted text below everything else on the terminal that stderr is. `format` gets its width;
   * they are drawn again every second and after everything that is written. Returns undefined if it is no terminal.
   */
  openLiveArea(format: (width: number) => string[]): LiveArea | undefined {
    if (!this.isStderrTTY) return undefined;
    this.liveArea = new LiveArea({
      write: (text) => void this.stderr.write(text),
      format: () => format((this.stderr.columns ?? 80) - 1).map((line) => this.formatNote(line)),
    });
    return this.liveArea;
  }

  writeError(error: unknown): void {
    const known = isThinkeryError(error) ? error : fail("internal", formatUnexpectedError(error));
    if (this.isJson) this.writeJson(toErrorBody(known));
    this.writeMessage(`thinkery: ${sanitizeIndented(known.message)}`);
    for (const issue of (known.details?.issues ?? []).slice(1)) {
      this.writeMessage(sanitizeIndented(`  ${issue.path.join(".")}: ${issue.message}`));
    }
  }

  bold(text: string): string {
    return this.hasColor ? `\u001b[1m${text}\u001b[22m` : text;
  }

  dim(text: string): string {
    return this.hasColor ? dim(text) : text;
  }

  colorDiffLine(line: string): string {
    return this.hasColor ? colorDiffLine(line) : line;
  }

  /** Like `colorDiffLine`, for lines on stderr. */
  colorStderrDiffLine(line: string): string {
    return this.hasStderrColor ? colorDiffLine(line) : line;
  }

  /** Formats rows as aligned columns with titles. */
  formatTable(titles: string[], rows: string[][]): string {
    const clean = rows.map((row) => row.map((cell) => sanitizeIndented(cell).replace(/\s+/g, " ")));
    const widths = titles.map((title, column) =>
      Math.max(title.length, ...clean.map((row) => row[column]?.length ?? 0)),
    );
    const line = (cells: string[]) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd();
    return [this.dim(line(titles)), ...clean.map(line)].join("\n");
  }

  /** Formats name–value pairs, one per line; skips undefined values. */
  formatFields(entries: [name: string, value: string | undefined][]): string {
    const known = entries.filter((entry): entry is [string, string] => entry[1] !== undefined);
    const width = Math.max(...known.map(([name]) => name.length));
    return known.map(([name, value]) => `${this.dim(name.padEnd(width))}  ${sanitizeIndented(value)}`).join("\n");
  }
}

function colorDiffLine(line: string): string {
  const color = line.startsWith("+") ? 32 : line.startsWith("-") ? 31 : line.startsWith("@@") ? 36 : undefined;
  return color === undefined ? line : `\u001b[${color}m${line}\u001b[39m`;
}

function dim(text: string): string {
  return `\u001b[2m${text}\u001b[22m`;
}

// Untrusted text must not move the cursor, change colors or reorder the text on the terminal.
export function sanitize(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(/[^\P{Cc}\t\n]|[\u202a-\u202e\u2066-\u2069]/gu, "\ufffd");
}

/** Like `sanitize`, but indents continuation lines. */
export function sanitizeIndented(text: string): string {
  return sanitize(text).replaceAll("\n", "\n  ");
}

// JSON.stringify does not escape DEL and the C1 control characters, which a terminal may interpret.
function stringify(value: unknown, indent = 2): string {
  const escape = (control: string) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value, null, indent).replace(/[\u007f-\u009f]/g, escape);
}

function formatUnexpectedError(error: unknown): string {
  return `Unexpected error: ${error instanceof Error ? error.message : String(error)}`;
}
