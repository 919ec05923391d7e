import { errorBody, fail, isThinkeryError } from "@thinkery/sdk";

export interface Sink {
  write(text: string): unknown;
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

  constructor(options: OutputOptions) {
    this.json = options.json;
    this.stdout = options.stdout;
    this.stderr = options.stderr;
    this.styled = options.stdout.isTTY === true && !options.env.NO_COLOR;
  }

  /** The reply of a command: one JSON value, or the same for people. */
  reply(value: unknown, forPeople: () => string): void {
    const text = this.json ? JSON.stringify(value, null, 2) : forPeople();
    if (text !== "") this.stdout.write(`${text}\n`);
  }

  /** Text as it is, for replies that have no other form. */
  text(text: string): void {
    this.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
  }

  /** A line beside the reply. */
  say(line: string): void {
    this.stderr.write(`${line}\n`);
  }

  error(error: unknown): void {
    const known = isThinkeryError(error) ? error : fail("internal", unforeseen(error));
    if (this.json) this.stdout.write(`${JSON.stringify(errorBody(known), null, 2)}\n`);
    this.say(`thinkery: ${printable(known.message)}`);
    for (const problem of (known.details?.problems ?? []).slice(1)) {
      this.say(printable(`  ${problem.path.join(".")}: ${problem.message}`));
    }
  }

  bold(text: string): string {
    return this.styled ? `\u001b[1m${text}\u001b[22m` : text;
  }

  dim(text: string): string {
    return this.styled ? `\u001b[2m${text}\u001b[22m` : text;
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

// What agents and other people wrote must not move the cursor or recolour the terminal.
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\t\n]/gu, "\ufffd").replaceAll("\n", "\n  ");
}

function unforeseen(error: unknown): string {
  return `Something went wrong that should not: ${error instanceof Error ? error.message : String(error)}`;
}
