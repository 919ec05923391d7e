import { expect, test } from "vitest";
import { CommandOutput } from "./command-output.ts";

function writeOutput(limits: { head: number; tail: number }, ...chunks: (string | number[])[]): CommandOutput {
  const output = new CommandOutput(limits);
  for (const chunk of chunks) output.write(Buffer.from(chunk as string));
  return output;
}

test("short output is kept unchanged, regardless of its chunks", () => {
  const output = writeOutput({ head: 4, tail: 8 }, "a", "bc", "défg", "", "h");
  expect(output.toText()).toBe("abcdéfgh");
  expect(output.byteLength).toBe(9);
  expect(writeOutput({ head: 0, tail: 8 }, "abcdefgh").toText()).toBe("abcdefgh");
  expect(writeOutput({ head: 4, tail: 4 }).toText()).toBe("");
});

test("of long output the beginning and the end are kept, with the number of omitted bytes", () => {
  expect(writeOutput({ head: 3, tail: 4 }, "abcdefghijkl").toText()).toBe("abc\n[… 5 bytes omitted …]\nijkl");
  expect(writeOutput({ head: 3, tail: 4 }, ..."abcdefghijkl").toText()).toBe("abc\n[… 5 bytes omitted …]\nijkl");
  expect(writeOutput({ head: 0, tail: 4 }, "ab", "cdefghijk", "l").toText()).toBe("[… 8 bytes omitted …]\nijkl");
});

test("the same bytes are kept regardless of the chunks", () => {
  const all = Array.from({ length: 1000 }, (_, index) => String(index % 10)).join("");
  for (const size of [1, 2, 3, 7, 16, 31, 64, 999]) {
    const pieces = all.match(new RegExp(`.{1,${size}}`, "g")) ?? [];
    const output = writeOutput({ head: 20, tail: 30 }, ...pieces);
    expect([size, output.toText()]).toEqual([size, `${all.slice(0, 20)}\n[… 950 bytes omitted …]\n${all.slice(-30)}`]);
    expect(output.byteLength).toBe(1000);
  }
});

test("a flood of output does not grow the buffer", () => {
  const output = new CommandOutput({ head: 1000, tail: 64 * 1024 });
  const chunk = Buffer.alloc(64 * 1024, "y\n");
  const before = process.memoryUsage().arrayBuffers;
  for (let count = 0; count < 5000; count++) output.write(chunk);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10 * 1024 * 1024);
  expect(output.byteLength).toBe(5000 * 64 * 1024);
  expect(output.toText().length).toBeLessThan(67_000);
});

test("reading continues at a position, in whole characters", () => {
  const output = writeOutput({ head: 0, tail: 100 }, "one ");
  let at = 0;
  const next = () => {
    const text = output.readAfter(at);
    at = output.byteLength;
    return text;
  };
  expect(next()).toBe("one ");
  expect(next()).toBe("");
  const [first, second, third] = Buffer.from("€");
  output.write(Buffer.from([first as number]));
  expect(next()).toBe("");
  output.write(Buffer.from([second as number]));
  expect(next()).toBe("");
  output.write(Buffer.from([third as number, 0x21]));
  expect(next()).toBe("€!");
  output.write(Buffer.from("x".repeat(150)));
  expect(next()).toBe(`[… 50 bytes omitted …]\n${"x".repeat(100)}`);
  expect(output.readAfter(at + 1000)).toBe("");
});

test("a limited read returns the end", () => {
  const output = writeOutput({ head: 3, tail: 20 }, "abcdefghij");
  expect(output.readAfter(0, 4)).toBe("[… 6 bytes omitted …]\nghij");
  expect(output.readAfter(0)).toBe("abcdefghij");
  expect(output.readAfter(2)).toBe("cdefghij");
});

test("if bytes were omitted, reading continues in the tail", () => {
  const output = writeOutput({ head: 3, tail: 4 }, "abcdefghijkl");
  expect(output.readAfter(0)).toBe("[… 8 bytes omitted …]\nijkl");
  expect(output.readAfter(10)).toBe("kl");
});

test("a character that was cut in two is dropped", () => {
  expect(writeOutput({ head: 0, tail: 5 }, "ab€€").toText()).toBe("[… 3 bytes omitted …]\n€");
  expect(writeOutput({ head: 0, tail: 5 }, "ab€€").readAfter(0)).toBe("[… 3 bytes omitted …]\n€");
});

test("a character that arrives in two parts counts once it is complete, even across head and tail", () => {
  const [first, second] = Buffer.from("é");
  const output = writeOutput({ head: 3, tail: 10 }, "ab", [first as number]);
  expect(output.byteLength).toBe(2);
  output.write(Buffer.from([second as number]));
  expect([output.byteLength, output.readAfter(2)]).toEqual([4, "é"]);
});

test("invalid UTF-8 and terminal control sequences are replaced or removed", () => {
  expect(writeOutput({ head: 0, tail: 100 }, [0x61, 0xff, 0xfe, 0x62]).toText()).toBe("a\ufffd\ufffdb");
  expect(writeOutput({ head: 0, tail: 100 }, "a\0b\x07c\x9bd\x7f").toText()).toBe("a\ufffdb\ufffdc\ufffdd\ufffd");
  expect(writeOutput({ head: 0, tail: 100 }, "\x1b[1;31mred\x1b[0m \x1b]0;title\x07plain\x1b[2K \x1b(B").toText()).toBe(
    "red plain \ufffd(B",
  );
  expect(writeOutput({ head: 0, tail: 100 }, "10%\r20%\r\n\tdone").toText()).toBe("10%\n20%\n\tdone");
});

test("the output of an ended command can be shrunk", () => {
  const output = writeOutput({ head: 0, tail: 100 }, "abcdefghij");
  output.shrink(4);
  expect(output.readAfter(0)).toBe("[… 6 bytes omitted …]\nghij");
  expect(output.byteLength).toBe(10);
});
