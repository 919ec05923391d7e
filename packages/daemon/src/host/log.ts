import * as fs from "node:fs";
import { join } from "node:path";

/** One file for everything the host's processes say; `name` without `.log`. */
export const hostLogName = "thinkery";

export interface Log {
  /** The newest file; older ones are `<file>.1` … `<file>.5`. */
  file: string;
  /** Writes one line: time, source (`main`, `sandbox-0`, `daemon`), text. Never throws. */
  writeLine(source: string, text: string): void;
  /** From now on this secret never reaches the file. */
  redact(secret: string): void;
  close(): void;
}

// Credentials that main gave out, which nobody here knows one by one.
const issuedTokens = /thk_[\w.-]+/g;

interface LogLimits {
  maxBytes: number;
  keep: number;
}

// Written at once and in order: what a process said last before it died is what a person looks for.
export function openLog(folder: string, name: string, limits: Partial<LogLimits> = {}): Log {
  const { maxBytes = 5 * 1024 * 1024, keep = 5 } = limits;
  const file = join(folder, `${name}.log`);
  const secrets: string[] = [];
  let fd: number | undefined;
  let size = 0;
  let dropped = 0;
  let complained = false;
  let closed = false;

  function open(): number {
    fd = fs.openSync(file, "a", 0o600);
    size = fs.fstatSync(fd).size;
    return fd;
  }

  function rotate(): void {
    if (fd !== undefined) fs.closeSync(fd);
    fd = undefined;
    for (let n = keep; n > 0; n--) {
      const from = n === 1 ? file : `${file}.${n - 1}`;
      if (fs.existsSync(from)) fs.renameSync(from, `${file}.${n}`);
    }
  }

  function append(text: string): void {
    const bytes = Buffer.from(text);
    let target = fd ?? open();
    if (size > 0 && size + bytes.length > maxBytes) {
      rotate();
      target = open();
    }
    // A disk that fills up in the middle of a line takes a part of it without an error.
    const written = fs.writeSync(target, bytes);
    size += written;
    if (written < bytes.length) throw new Error("the disk is full");
  }

  function clean(text: string): string {
    let result = text;
    for (const secret of secrets) result = result.replaceAll(secret, "[redacted]");
    return result.replaceAll(issuedTokens, "[redacted]").replaceAll(/[\r\n]+/g, " ");
  }

  function line(source: string, text: string): void {
    if (closed) return;
    try {
      const time = new Date().toISOString();
      const gap =
        dropped > 0 ? `${time} daemon ${dropped} lines are missing here: the log could not be written.\n` : "";
      append(`${gap}${time} ${source} ${clean(text)}\n`);
      dropped = 0;
    } catch (error) {
      dropped++;
      if (complained) return;
      complained = true;
      process.stderr.write(`The log cannot be written (${(error as Error).message}); Thinkery goes on without it.\n`);
    }
  }

  return {
    file,
    writeLine: line,
    redact(secret) {
      if (secret) secrets.push(secret);
    },
    close() {
      closed = true;
      if (fd !== undefined) fs.closeSync(fd);
      fd = undefined;
    },
  };
}
