import { toErrorBody, fail, isThinkeryError } from "@thinkery/sdk";

export interface Sink {
  write(text: string | Uint8Array): unknown;
  isTTY?: boolean;
}

interface OutputOptions {
  stdout: Sink;
  stderr: Sink;
  env: Readonly<Record<string, string | undefined>>;
  json: boolean;
}

/** The two streams: the reply goes to stdout, all else to stderr. */
export class Output {
  readonly isJson: boolean;
  private readonly stdout: Sink;
  private readonly stderr: Sink;
  private readonly hasColor: boolean;
  private readonly hasStderrColor: boolean;
  /** What is written goes to a person's screen. */
  readonly isTTY: boolean;
  /** The same for what is said beside the reply. */
  readonly isStderrTTY: boolean;

  constructor(options: OutputOptions) {
    this.isJson = options.json;
    this.stdout = options.stdout;
    this.stderr = options.stderr;
    this.isTTY = options.stdout.isTTY === true;
    this.isStderrTTY = options.stderr.isTTY === true;
    this.hasColor = this.isTTY && !options.env.NO_COLOR;
    this.hasStderrColor = this.isStderrTTY && !options.env.NO_COLOR;
  }

  /** The reply of a command: one JSON value, or the same for people. */
  reply(value: unknown, forPeople: () => string): void {
    if (this.isJson) return this.writeJson(value);
    const text = forPeople();
    if (text !== "") this.stdout.write(`${text}\n`);
  }

  /** A reply that is JSON, asked for or not. */
  writeJson(value: unknown): void {
    this.stdout.write(`${stringify(value)}\n`);
  }

  /** One of several JSON values, each on a line of its own, for replies that come bit by bit. */
  writeJsonLine(value: unknown): void {
    this.stdout.write(`${stringify(value, 0)}\n`);
  }

  /** Text as it is, for replies that have no other form. */
  writeText(text: string): void {
    this.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
  }

  /** A piece of a reply that comes bit by bit. */
  writeChunk(text: string): void {
    this.stdout.write(text);
  }

  /** A reply that is somebody's file, byte by byte. */
  writeBytes(data: Uint8Array): void {
    this.stdout.write(data);
  }

  /** A line beside the reply. */
  writeMessage(line: string): void {
    this.stderr.write(`${line}\n`);
  }

  /** The same for a note about what an agent does, in the words of others. */
  writeNote(line: string): void {
    const text = sanitize(line).replaceAll("\n", " ");
    this.writeMessage(this.hasStderrColor ? dim(text) : text);
  }

  writeError(error: unknown): void {
    const known = isThinkeryError(error) ? error : fail("internal", formatUnexpectedError(error));
    if (this.isJson) this.writeJson(toErrorBody(known));
    this.writeMessage(`thinkery: ${sanitizeIndented(known.message)}`);
    for (const problem of (known.details?.problems ?? []).slice(1)) {
      this.writeMessage(sanitizeIndented(`  ${problem.path.join(".")}: ${problem.message}`));
    }
  }

  bold(text: string): string {
    return this.hasColor ? `\u001b[1m${text}\u001b[22m` : text;
  }

  dim(text: string): string {
    return this.hasColor ? dim(text) : text;
  }

  /** A line of a diff: what came is green, what went is red. */
  colorDiffLine(line: string): string {
    const colour = line.startsWith("+") ? 32 : line.startsWith("-") ? 31 : line.startsWith("@@") ? 36 : undefined;
    return this.hasColor && colour !== undefined ? `\u001b[${colour}m${line}\u001b[39m` : line;
  }

  /** Columns under their titles. */
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

  /** Names and what they are, one a line. */
  formatFields(entries: [name: string, value: string | undefined][]): string {
    const known = entries.filter((entry): entry is [string, string] => entry[1] !== undefined);
    const width = Math.max(...known.map(([name]) => name.length));
    return known.map(([name, value]) => `${this.dim(name.padEnd(width))}  ${sanitizeIndented(value)}`).join("\n");
  }
}

function dim(text: string): string {
  return `\u001b[2m${text}\u001b[22m`;
}

// What agents and other people wrote must not move the cursor, recolour the terminal or reorder what is read.
export function sanitize(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(/[^\P{Cc}\t\n]|[\u202a-\u202e\u2066-\u2069]/gu, "\ufffd");
}

/** The same for text inside a line of ours; its own further lines are indented. */
export function sanitizeIndented(text: string): string {
  return sanitize(text).replaceAll("\n", "\n  ");
}

// JSON leaves DEL and the C1 control characters as they are, and a terminal may act on them.
function stringify(value: unknown, indent = 2): string {
  const escape = (control: string) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value, null, indent).replace(/[\u007f-\u009f]/g, escape);
}

function formatUnexpectedError(error: unknown): string {
  return `Something went wrong that should not: ${error instanceof Error ? error.message : String(error)}`;
}
