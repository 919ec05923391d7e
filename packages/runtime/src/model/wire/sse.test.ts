import { describe, expect, test } from "vitest";
import { createRandom } from "../../../../../tests/kit/random.ts";
import { EventParser } from "./sse.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function parseAll(text: string, size = text.length): string[] {
  const parser = new EventParser();
  const whole = bytes(text);
  const payloads: string[] = [];
  for (let at = 0; at < whole.length; at += size) payloads.push(...parser.push(whole.subarray(at, at + size)));
  return [...payloads, ...parser.end()];
}

describe("server-sent events", () => {
  test("completed payloads are returned at once", () => {
    const parser = new EventParser();
    expect(parser.push(bytes("data: a\n\ndata: b\n\ndata: c"))).toEqual(["a", "b"]);
    expect(parser.push(bytes("\n"))).toEqual([]);
    expect(parser.push(bytes("\n"))).toEqual(["c"]);
    expect(parser.end()).toEqual([]);
  });

  test.each([
    ["lines ending in CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]],
    [
      "comments, event names, ids and retry delays",
      ": hello\nevent: message\nid: 7\nretry: 10\ndata: a\n\n: bye\n\n",
      ["a"],
    ],
    ["several data lines form one payload", "data: a\ndata: b\n\n", ["a\nb"]],
    ["one space after the colon is dropped", "data:a\n\ndata:  b\n\n", ["a", " b"]],
    ["data without a colon is an empty line", "data\ndata: a\n\n", ["\na"]],
    ["the last event needs no blank line", "data: a\n\ndata: b", ["a", "b"]],
    ["other fields with the same prefix", "dataset: a\n\ndata: b\n\n", ["b"]],
    ["a byte order mark", "\ufeffdata: a\n\n", ["a"]],
    ["nothing at all", "", []],
  ])("%s", (_name, text, payloads) => {
    expect(parseAll(text)).toEqual(payloads);
    expect(parseAll(text, 1)).toEqual(payloads);
  });

  test("chunk boundaries make no difference", () => {
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
      expect([...payloads, ...parser.end()]).toEqual(parseAll(text));
    }
  });

  test("an endless line is rejected, and so is an endless event", () => {
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
