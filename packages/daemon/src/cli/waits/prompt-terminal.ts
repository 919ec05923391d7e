import { createInterface } from "node:readline/promises";
import type { Cli } from "../cli.ts";
import { editText } from "./editor.ts";

/** Where a person is asked. */
export interface PromptTerminal {
  /** Asks for a line. Returns undefined if the terminal was closed, or the signal is aborted. */
  ask(prompt: string, signal: AbortSignal): Promise<string | undefined>;
  /** Writes a line of sanitized text. */
  write(line: string): void;
  /** Lets the person edit a text. */
  edit(text: string, fileName: string): Promise<string>;
  paint(line: string): string;
}

/** Asks on stderr and reads from stdin. */
export function createPromptTerminal(cli: Cli): PromptTerminal {
  return {
    async ask(prompt, signal) {
      const reader = createInterface({ input: process.stdin, output: process.stderr });
      // Otherwise the prompt swallows Ctrl+C.
      reader.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
      const closed = new Promise<undefined>((resolve) => reader.once("close", () => resolve(undefined)));
      try {
        return await Promise.race([reader.question(prompt, { signal }).catch(() => undefined), closed]);
      } finally {
        reader.close();
      }
    },
    write: (line) => cli.output.writeMessage(line),
    edit: (text, fileName) => editText(cli.env, text, fileName),
    paint: (line) => cli.output.colorStderrDiffLine(line),
  };
}
