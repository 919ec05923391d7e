import * as fs from "node:fs";
import { join } from "node:path";
import { Redactor } from "@thinkery/sdk/internal";

/** Name of the log file for all of the host's processes, without `.log`. */
export const hostLogName = "thinkery";

export interface Log {
  /** The newest file; older ones are `<file>.1` … `<file>.5`. */
  file: string;
  /** Writes one line: time, source (`main`, `sandbox-0`, `daemon`), text. Never throws. */
  writeLine(source: string, text: string): void;
  /** Redacts these secrets in all further lines, in addition to everything that looks like one. */
  redact(secrets: readonly string[]): void;
  close(): void;
}

interface LogLimits {
  maxBytes: number;
  keep: number;
}

// Writes synchronously, because the last lines before a crash are the ones people look for.
export function openLog(folder: string, name: string, limits: Partial<LogLimits> = {}): Log {
  const { maxBytes = 5 * 1024 * 1024, keep = 5 } = limits;
  const file = join(folder, `${name}.log`);
  let redactor = new Redactor([]);
  let fd: number | undefined;
  let size = 0;
  let dropped = 0;
  let hasWarned = false;
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
    // If the disk fills up in the middle of a line, part of it is written without an error.
    const written = fs.writeSync(target, bytes);
    size += written;
    if (written < bytes.length) throw new Error("the disk is full");
  }

  function clean(text: string): string {
    return redactor.redactLog(text).replaceAll(/[\r\n]+/g, " ");
  }

  function writeLine(source: string, text: string): void {
    if (closed) return;
    try {
      const time = new Date().toISOString();
      const gap = dropped > 0 ? `${time} daemon ${dropped} lines missing: the log could not be written.\n` : "";
      append(`${gap}${time} ${source} ${clean(text)}\n`);
      dropped = 0;
    } catch (error) {
      dropped++;
      if (hasWarned) return;
      hasWarned = true;
      process.stderr.write(`Cannot write the log (${(error as Error).message}). Thinkery continues without it.\n`);
    }
  }

  return {
    file,
    writeLine,
    redact(secrets) {
      redactor = new Redactor(secrets);
    },
    close() {
      closed = true;
      if (fd !== undefined) fs.closeSync(fd);
      fd = undefined;
    },
  };
}
