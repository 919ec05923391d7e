import { fail } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { Output } from "./output.ts";

function record(options: { isTTY?: boolean; asidesTTY?: boolean; json?: boolean; env?: Record<string, string> } = {}) {
  const written = { out: "", err: "" };
  const output = new Output({
    stdout: { write: (text) => (written.out += text), isTTY: options.isTTY ?? false },
    stderr: { write: (text) => (written.err += text), isTTY: options.asidesTTY ?? false },
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

test("what is said beside the reply is dim where that goes to a terminal, wherever the reply goes", () => {
  const said = (options: Parameters<typeof record>[0]) => {
    const { output, written } = record(options);
    output.writeNote("a\nb\u001b");
    return written.err;
  };
  expect(said({ asidesTTY: true })).toBe("\u001b[2ma b\ufffd\u001b[22m\n");
  expect(said({ isTTY: true })).toBe("a b\ufffd\n");
  expect(said({ asidesTTY: true, env: { NO_COLOR: "1" } })).toBe("a b\ufffd\n");
});

test("a reply is one JSON value or its form for people", () => {
  const json = record({ json: true });
  json.output.reply({ a: [1] }, () => "people");
  expect(JSON.parse(json.written.out)).toEqual({ a: [1] });
  const plain = record();
  plain.output.reply({ a: [1] }, () => "people");
  expect(plain.written).toEqual({ out: "people\n", err: "" });
});

test("JSON carries no character a terminal would act on, and still the same value", () => {
  const { output, written } = record({ json: true });
  const value = { text: "\u009b31m \u001b[2J \u007f ü" };
  output.reply(value, () => "");
  expect(written.out).not.toMatch(/[^\P{Cc}\n]/u);
  expect(JSON.parse(written.out)).toEqual(value);
});

test("an error is a sentence on stderr, and with --json also the one value on stdout", () => {
  const plain = record();
  plain.output.writeError(fail("not_found", "No bob."));
  expect(plain.written).toEqual({ out: "", err: "thinkery: No bob.\n" });
  const json = record({ json: true });
  json.output.writeError(fail("not_found", "No bob."));
  expect(JSON.parse(json.written.out)).toEqual({ error: { code: "not_found", message: "No bob." } });
});

test("columns line up and the control characters of others are not passed on", () => {
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
