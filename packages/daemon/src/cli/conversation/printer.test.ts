import { expect, test } from "vitest";
import { Output } from "../output.ts";
import { Printer } from "./printer.ts";

const call = { id: "1", name: "sandbox", input: { command: "make" } };

function print(options: { tty: boolean; response?: boolean }): string {
  const written = { out: "", err: "" };
  const output = new Output({
    stdout: { write: (text) => (written.out += text) },
    stderr: { write: (text) => (written.err += text), isTTY: options.tty },
    env: { NO_COLOR: "1" },
    json: false,
  });
  const printer = new Printer(output, options);
  printer.onText("Let me ");
  printer.onText("build.");
  printer.onParagraph();
  printer.onProgress(call, "compiling \u001b[31m\n");
  printer.onCall(call, { output: "built" });
  printer.onText("Built.");
  printer.onRestart();
  printer.onText("Built!");
  printer.end();
  return `${written.out}---\n${written.err}`;
}

test("progress is only shown on a terminal; the response is the same", () => {
  const response = "Let me build.\nBuilt.\nBuilt!\n---\n";
  const restart = "The response was interrupted and starts over:\n";
  expect(print({ tty: false })).toBe(`${response}· sandbox $ make → built\n${restart}`);
  expect(print({ tty: true })).toBe(`${response}· sandbox $ make\n  │ compiling \ufffd[31m\n  → built\n${restart}`);
});

test("progress can be shown without the response", () => {
  expect(print({ tty: true, response: false })).toBe("---\n· sandbox $ make\n  │ compiling \ufffd[31m\n  → built\n");
});
