import { fail } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { Output } from "./output.ts";

function record(
  options: { isTTY?: boolean; isStderrTTY?: boolean; json?: boolean; env?: Record<string, string> } = {},
) {
  const written = { out: "", err: "" };
  const output = new Output({
    stdout: { write: (text) => (written.out += text), isTTY: options.isTTY ?? false },
    stderr: { write: (text) => (written.err += text), isTTY: options.isStderrTTY ?? false },
    env: options.env ?? {},
    json: options.json ?? false,
  });
  return { output, written };
}

test("styles appear only on a terminal and never with NO_COLOR", () => {
  expect(record({ isTTY: true }).output.bold("x")).toBe("\u001b[1mx\u001b[22m");
  expect(record({ isTTY: false }).output.bold("x")).toBe("x");
  expect(record({ isTTY: true, env: { NO_COLOR: "1" } }).output.dim("x")).toBe("x");
});

test("notes are dim if stderr is a terminal, wherever stdout goes", () => {
  const writeNote = (options: Parameters<typeof record>[0]) => {
    const { output, written } = record(options);
    output.writeNote("a\nb\u001b");
    return written.err;
  };
  expect(writeNote({ isStderrTTY: true })).toBe("\u001b[2ma b\ufffd\u001b[22m\n");
  expect(writeNote({ isTTY: true })).toBe("a b\ufffd\n");
  expect(writeNote({ isStderrTTY: true, env: { NO_COLOR: "1" } })).toBe("a b\ufffd\n");
});

test("a reply is JSON with --json and text otherwise", () => {
  const json = record({ json: true });
  json.output.reply({ a: [1] }, () => "text");
  expect(JSON.parse(json.written.out)).toEqual({ a: [1] });
  const plain = record();
  plain.output.reply({ a: [1] }, () => "text");
  expect(plain.written).toEqual({ out: "text\n", err: "" });
});

test("JSON output escapes control characters and parses to the same value", () => {
  const { output, written } = record({ json: true });
  const value = { text: "\u009b31m \u001b[2J \u007f ü" };
  output.reply(value, () => "");
  expect(written.out).not.toMatch(/[^\P{Cc}\n]/u);
  expect(JSON.parse(written.out)).toEqual(value);
});

test("an error is a message on stderr, and with --json also JSON on stdout", () => {
  const plain = record();
  plain.output.writeError(fail("not_found", "No bob."));
  expect(plain.written).toEqual({ out: "", err: "thinkery: No bob.\n" });
  const json = record({ json: true });
  json.output.writeError(fail("not_found", "No bob."));
  expect(JSON.parse(json.written.out)).toEqual({ error: { code: "not_found", message: "No bob." } });
});

test("columns are aligned and control characters are replaced", () => {
  const { output } = record();
  const text = output.formatTable(
    ["NAME", "MODEL"],
    [
      ["alice", "a:b"],
      ["b\u001b[31m", "c\nd"],
    ],
  );
  expect(text.split("\n")).toEqual(["NAME    MODEL", "alice   a:b", "b\ufffd[31m  c d"]);
});
