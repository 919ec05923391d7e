import { expect, test } from "vitest";
import { CommandOutput } from "./command-output.ts";

function writeOutput(kept: { head: number; tail: number }, ...chunks: (string | number[])[]): CommandOutput {
  const output = new CommandOutput(kept);
  for (const chunk of chunks) output.write(Buffer.from(chunk as string));
  return output;
}

test("little is kept as it is, in whatever pieces it came", () => {
  const output = writeOutput({ head: 4, tail: 8 }, "a", "bc", "défg", "", "h");
  expect(output.toText()).toBe("abcdéfgh");
  expect(output.byteLength).toBe(9);
  expect(writeOutput({ head: 0, tail: 8 }, "abcdefgh").toText()).toBe("abcdefgh");
  expect(writeOutput({ head: 4, tail: 4 }).toText()).toBe("");
});

test("of much, the beginning and the end are kept, and what is missing is counted", () => {
  expect(writeOutput({ head: 3, tail: 4 }, "abcdefghijkl").toText()).toBe("abc\n[… 5 bytes left out …]\nijkl");
  expect(writeOutput({ head: 3, tail: 4 }, ..."abcdefghijkl").toText()).toBe("abc\n[… 5 bytes left out …]\nijkl");
  expect(writeOutput({ head: 0, tail: 4 }, "ab", "cdefghijk", "l").toText()).toBe("[… 8 bytes left out …]\nijkl");
});

test("whatever the pieces, the same is kept", () => {
  const all = Array.from({ length: 1000 }, (_, index) => String(index % 10)).join("");
  for (const size of [1, 2, 3, 7, 16, 31, 64, 999]) {
    const pieces = all.match(new RegExp(`.{1,${size}}`, "g")) ?? [];
    const output = writeOutput({ head: 20, tail: 30 }, ...pieces);
    expect([size, output.toText()]).toEqual([size, `${all.slice(0, 20)}\n[… 950 bytes left out …]\n${all.slice(-30)}`]);
    expect(output.byteLength).toBe(1000);
  }
});

test("a flood does not grow what is kept", () => {
  const output = new CommandOutput({ head: 1000, tail: 64 * 1024 });
  const chunk = Buffer.alloc(64 * 1024, "y\n");
  const before = process.memoryUsage().arrayBuffers;
  for (let count = 0; count < 5000; count++) output.write(chunk);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10 * 1024 * 1024);
  expect(output.byteLength).toBe(5000 * 64 * 1024);
  expect(output.toText().length).toBeLessThan(67_000);
});

test("one reads on where one stopped, whole characters at a time", () => {
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
  expect(next()).toBe(`[… 50 bytes left out …]\n${"x".repeat(100)}`);
  expect(output.readAfter(at + 1000)).toBe("");
});

test("a reader in a hurry gets the end", () => {
  const output = writeOutput({ head: 3, tail: 20 }, "abcdefghij");
  expect(output.readAfter(0, 4)).toBe("[… 6 bytes left out …]\nghij");
  expect(output.readAfter(0)).toBe("abcdefghij");
  expect(output.readAfter(2)).toBe("cdefghij");
});

test("where the beginning and the end are apart, one reads on in the end", () => {
  const output = writeOutput({ head: 3, tail: 4 }, "abcdefghijkl");
  expect(output.readAfter(0)).toBe("[… 8 bytes left out …]\nijkl");
  expect(output.readAfter(10)).toBe("kl");
});

test("a character that was cut in two is left out at the cut", () => {
  expect(writeOutput({ head: 0, tail: 5 }, "ab€€").toText()).toBe("[… 3 bytes left out …]\n€");
  expect(writeOutput({ head: 0, tail: 5 }, "ab€€").readAfter(0)).toBe("[… 3 bytes left out …]\n€");
});

test("a character that comes in two parts counts when it is whole, also where the beginning ends", () => {
  const [first, second] = Buffer.from("é");
  const output = writeOutput({ head: 3, tail: 10 }, "ab", [first as number]);
  expect(output.byteLength).toBe(2);
  output.write(Buffer.from([second as number]));
  expect([output.byteLength, output.readAfter(2)]).toEqual([4, "é"]);
});

test("bytes that are no text, and words for a terminal, are harmless", () => {
  expect(writeOutput({ head: 0, tail: 100 }, [0x61, 0xff, 0xfe, 0x62]).toText()).toBe("a\ufffd\ufffdb");
  expect(writeOutput({ head: 0, tail: 100 }, "a\0b\x07c\x9bd\x7f").toText()).toBe("a\ufffdb\ufffdc\ufffdd\ufffd");
  expect(writeOutput({ head: 0, tail: 100 }, "\x1b[1;31mred\x1b[0m \x1b]0;title\x07plain\x1b[2K \x1b(B").toText()).toBe(
    "red plain \ufffd(B",
  );
  expect(writeOutput({ head: 0, tail: 100 }, "10%\r20%\r\n\tdone").toText()).toBe("10%\n20%\n\tdone");
});

test("what is over is kept shorter", () => {
  const output = writeOutput({ head: 0, tail: 100 }, "abcdefghij");
  output.shrink(4);
  expect(output.readAfter(0)).toBe("[… 6 bytes left out …]\nghij");
  expect(output.byteLength).toBe(10);
});
