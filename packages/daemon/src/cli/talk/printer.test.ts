import { expect, test } from "vitest";
import { Output } from "../output.ts";
import { Printer } from "./printer.ts";

const call = { id: "1", name: "sandbox", input: { command: "make" } };

function print(options: { tty: boolean; answer?: boolean }): string {
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

test("what a call shows goes to people, not to files; the answer is the same", () => {
  const answer = "Let me build.\nBuilt.\nBuilt!\n---\n";
  const again = "The answer was interrupted and begins again:\n";
  expect(print({ tty: false })).toBe(`${answer}· sandbox $ make → built\n${again}`);
  expect(print({ tty: true })).toBe(`${answer}· sandbox $ make\n  │ compiling \ufffd[31m\n  → built\n${again}`);
});

test("whoever waits for the answer alone can still see what is done meanwhile", () => {
  expect(print({ tty: true, answer: false })).toBe("---\n· sandbox $ make\n  │ compiling \ufffd[31m\n  → built\n");
});
