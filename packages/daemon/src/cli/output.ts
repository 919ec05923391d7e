import { errorBody, fail, isThinkeryError } from "@thinkery/sdk";

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
  readonly json: boolean;
  private readonly stdout: Sink;
  private readonly stderr: Sink;
  private readonly styled: boolean;
  private readonly asidesStyled: boolean;
  /** What is written goes to a person's screen. */
  readonly toScreen: boolean;
  /** The same for what is said beside the reply. */
  readonly asidesToScreen: boolean;

  constructor(options: OutputOptions) {
    this.json = options.json;
    this.stdout = options.stdout;
    this.stderr = options.stderr;
    this.toScreen = options.stdout.isTTY === true;
    this.asidesToScreen = options.stderr.isTTY === true;
    this.styled = this.toScreen && !options.env.NO_COLOR;
    this.asidesStyled = this.asidesToScreen && !options.env.NO_COLOR;
  }

  /** The reply of a command: one JSON value, or the same for people. */
  reply(value: unknown, forPeople: () => string): void {
    if (this.json) return this.value(value);
    const text = forPeople();
    if (text !== "") this.stdout.write(`${text}\n`);
  }

  /** A reply that is JSON, asked for or not. */
  value(value: unknown): void {
    this.stdout.write(`${json(value)}\n`);
  }

  /** One of several JSON values, each on a line of its own, for replies that come bit by bit. */
  line(value: unknown): void {
    this.stdout.write(`${json(value, 0)}\n`);
  }

  /** Text as it is, for replies that have no other form. */
  text(text: string): void {
    this.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
  }

  /** A piece of a reply that comes bit by bit. */
  piece(text: string): void {
    this.stdout.write(text);
  }

  /** A reply that is somebody's file, byte by byte. */
  bytes(data: Uint8Array): void {
    this.stdout.write(data);
  }

  /** A line beside the reply. */
  say(line: string): void {
    this.stderr.write(`${line}\n`);
  }

  /** The same for a note about what an agent does, in the words of others. */
  aside(line: string): void {
    const text = harmless(line).replaceAll("\n", " ");
    this.say(this.asidesStyled ? dim(text) : text);
  }

  error(error: unknown): void {
    const known = isThinkeryError(error) ? error : fail("internal", unforeseen(error));
    if (this.json) this.value(errorBody(known));
    this.say(`thinkery: ${printable(known.message)}`);
    for (const problem of (known.details?.problems ?? []).slice(1)) {
      this.say(printable(`  ${problem.path.join(".")}: ${problem.message}`));
    }
  }

  bold(text: string): string {
    return this.styled ? `\u001b[1m${text}\u001b[22m` : text;
  }

  dim(text: string): string {
    return this.styled ? dim(text) : text;
  }

  /** A line of a diff: what came is green, what went is red. */
  change(line: string): string {
    const colour = line.startsWith("+") ? 32 : line.startsWith("-") ? 31 : line.startsWith("@@") ? 36 : undefined;
    return this.styled && colour !== undefined ? `\u001b[${colour}m${line}\u001b[39m` : line;
  }

  /** Columns under their titles. */
  table(titles: string[], rows: string[][]): string {
    const clean = rows.map((row) => row.map((cell) => printable(cell).replace(/\s+/g, " ")));
    const widths = titles.map((title, column) => Math.max(title.length, ...clean.map((row) => row[column]?.length ?? 0)));
    const line = (cells: string[]) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd();
    return [this.dim(line(titles)), ...clean.map(line)].join("\n");
  }

  /** Names and what they are, one a line. */
  facts(entries: [name: string, value: string | undefined][]): string {
    const known = entries.filter((entry): entry is [string, string] => entry[1] !== undefined);
    const width = Math.max(...known.map(([name]) => name.length));
    return known.map(([name, value]) => `${this.dim(name.padEnd(width))}  ${printable(value)}`).join("\n");
  }
}

function dim(text: string): string {
  return `\u001b[2m${text}\u001b[22m`;
}

// What agents and other people wrote must not move the cursor, recolour the terminal or reorder what is read.
export function harmless(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(/[^\P{Cc}\t\n]|[\u202a-\u202e\u2066-\u2069]/gu, "\ufffd");
}

/** The same for text inside a line of ours; its own further lines are indented. */
export function printable(text: string): string {
  return harmless(text).replaceAll("\n", "\n  ");
}

// JSON leaves DEL and the C1 control characters as they are, and a terminal may act on them.
function json(value: unknown, indent = 2): string {
  const escape = (control: string) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value, null, indent).replace(/[\u007f-\u009f]/g, escape);
}

function unforeseen(error: unknown): string {
  return `Something went wrong that should not: ${error instanceof Error ? error.message : String(error)}`;
}
