import { describe, expect, test } from "vitest";
import { createRandom } from "../../../../../tests/kit/random.ts";
import { EventParser } from "./sse.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function all(text: string, size = text.length): string[] {
  const parser = new EventParser();
  const whole = bytes(text);
  const payloads: string[] = [];
  for (let at = 0; at < whole.length; at += size) payloads.push(...parser.push(whole.subarray(at, at + size)));
  return [...payloads, ...parser.end()];
}

describe("server-sent events", () => {
  test("the payloads that came with the bytes come at once", () => {
    const parser = new EventParser();
    expect(parser.push(bytes("data: a\n\ndata: b\n\ndata: c"))).toEqual(["a", "b"]);
    expect(parser.push(bytes("\n"))).toEqual([]);
    expect(parser.push(bytes("\n"))).toEqual(["c"]);
    expect(parser.end()).toEqual([]);
  });

  test.each([
    ["lines that end in CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]],
    [
      "comments, names, ids and times to retry",
      ": hello\nevent: message\nid: 7\nretry: 10\ndata: a\n\n: bye\n\n",
      ["a"],
    ],
    ["several data lines are one payload", "data: a\ndata: b\n\n", ["a\nb"]],
    ["one blank after the colon is no part of it", "data:a\n\ndata:  b\n\n", ["a", " b"]],
    ["data without a colon is an empty line", "data\ndata: a\n\n", ["\na"]],
    ["a last event needs no blank line", "data: a\n\ndata: b", ["a", "b"]],
    ["other fields that begin alike", "dataset: a\n\ndata: b\n\n", ["b"]],
    ["a mark at the beginning of the file", "\ufeffdata: a\n\n", ["a"]],
    ["nothing at all", "", []],
  ])("%s", (_what, text, payloads) => {
    expect(all(text)).toEqual(payloads);
    expect(all(text, 1)).toEqual(payloads);
  });

  test("where chunks are cut makes no difference", () => {
    const chance = createRandom("sse");
    for (let round = 0; round < 200; round += 1) {
      const expected = Array.from({ length: chance.below(6) }, () => chance.text(chance.below(40), 'aü日👧 :{}"data'));
      const text = expected
        .map((payload) => `${chance.chance(0.3) ? ": ping\n\n" : ""}data: ${payload}\r\n\r\n`)
        .join("");
      const parser = new EventParser();
      const whole = bytes(text);
      const payloads: string[] = [];
      for (let at = 0; at < whole.length;) {
        const size = 1 + chance.below(30);
        payloads.push(...parser.push(whole.subarray(at, at + size)));
        at += size;
      }
      expect([...payloads, ...parser.end()]).toEqual(all(text));
    }
  });

  test("a line without end is given up, and so is an event without end", () => {
    const parser = new EventParser(1000);
    expect(() => {
      for (let round = 0; round < 200; round += 1) parser.push(bytes("data: 0123456789"));
    }).toThrow(RangeError);
    const other = new EventParser(1000);
    expect(() => {
      for (let round = 0; round < 200; round += 1) other.push(bytes("data: 0123456789\n"));
    }).toThrow(RangeError);
  });
});
