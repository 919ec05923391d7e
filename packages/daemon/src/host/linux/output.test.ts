import { expect, test } from "vitest";
import { Output } from "./output.ts";

function written(kept: { head: number; tail: number }, ...chunks: (string | number[])[]): Output {
  const output = new Output(kept);
  for (const chunk of chunks) output.write(Buffer.from(chunk as string));
  return output;
}

test("little is kept as it is, in whatever pieces it came", () => {
  const output = written({ head: 4, tail: 8 }, "a", "bc", "défg", "", "h");
  expect(output.text()).toBe("abcdéfgh");
  expect(output.bytes).toBe(9);
  expect(written({ head: 0, tail: 8 }, "abcdefgh").text()).toBe("abcdefgh");
  expect(written({ head: 4, tail: 4 }).text()).toBe("");
});

test("of much, the beginning and the end are kept, and what is missing is counted", () => {
  expect(written({ head: 3, tail: 4 }, "abcdefghijkl").text()).toBe("abc\n[… 5 bytes left out …]\nijkl");
  expect(written({ head: 3, tail: 4 }, ..."abcdefghijkl").text()).toBe("abc\n[… 5 bytes left out …]\nijkl");
  expect(written({ head: 0, tail: 4 }, "ab", "cdefghijk", "l").text()).toBe("[… 8 bytes left out …]\nijkl");
});

test("whatever the pieces, the same is kept", () => {
  const all = Array.from({ length: 1000 }, (_, index) => String(index % 10)).join("");
  for (const size of [1, 2, 3, 7, 16, 31, 64, 999]) {
    const pieces = all.match(new RegExp(`.{1,${size}}`, "g")) ?? [];
    const output = written({ head: 20, tail: 30 }, ...pieces);
    expect([size, output.text()]).toEqual([size, `${all.slice(0, 20)}\n[… 950 bytes left out …]\n${all.slice(-30)}`]);
    expect(output.bytes).toBe(1000);
  }
});

test("a flood does not grow what is kept", () => {
  const output = new Output({ head: 1000, tail: 64 * 1024 });
  const chunk = Buffer.alloc(64 * 1024, "y\n");
  const before = process.memoryUsage().arrayBuffers;
  for (let count = 0; count < 5000; count++) output.write(chunk);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10 * 1024 * 1024);
  expect(output.bytes).toBe(5000 * 64 * 1024);
  expect(output.text().length).toBeLessThan(67_000);
});

test("one reads on where one stopped, whole characters at a time", () => {
  const output = written({ head: 0, tail: 100 }, "one ");
  let at = 0;
  const next = () => {
    const text = output.after(at);
    at = output.bytes;
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
  expect(output.after(at + 1000)).toBe("");
});

test("a reader in a hurry gets the end", () => {
  const output = written({ head: 3, tail: 20 }, "abcdefghij");
  expect(output.after(0, 4)).toBe("[… 6 bytes left out …]\nghij");
  expect(output.after(0)).toBe("abcdefghij");
  expect(output.after(2)).toBe("cdefghij");
});

test("where the beginning and the end are apart, one reads on in the end", () => {
  const output = written({ head: 3, tail: 4 }, "abcdefghijkl");
  expect(output.after(0)).toBe("[… 8 bytes left out …]\nijkl");
  expect(output.after(10)).toBe("kl");
});

test("a character that was cut in two is left out at the cut", () => {
  expect(written({ head: 0, tail: 5 }, "ab€€").text()).toBe("[… 3 bytes left out …]\n€");
  expect(written({ head: 0, tail: 5 }, "ab€€").after(0)).toBe("[… 3 bytes left out …]\n€");
});

test("a character that comes in two parts counts when it is whole, also where the beginning ends", () => {
  const [first, second] = Buffer.from("é");
  const output = written({ head: 3, tail: 10 }, "ab", [first as number]);
  expect(output.bytes).toBe(2);
  output.write(Buffer.from([second as number]));
  expect([output.bytes, output.after(2)]).toEqual([4, "é"]);
});

test("bytes that are no text, and words for a terminal, are harmless", () => {
  expect(written({ head: 0, tail: 100 }, [0x61, 0xff, 0xfe, 0x62]).text()).toBe("a\ufffd\ufffdb");
  expect(written({ head: 0, tail: 100 }, "a\0b\x07c\x9bd\x7f").text()).toBe("a\ufffdb\ufffdc\ufffdd\ufffd");
  expect(written({ head: 0, tail: 100 }, "\x1b[1;31mred\x1b[0m \x1b]0;title\x07plain\x1b[2K \x1b(B").text()).toBe("red plain \ufffd(B");
  expect(written({ head: 0, tail: 100 }, "10%\r20%\r\n\tdone").text()).toBe("10%\n20%\n\tdone");
});

test("what is over is kept shorter", () => {
  const output = written({ head: 0, tail: 100 }, "abcdefghij");
  output.shrink(4);
  expect(output.after(0)).toBe("[… 6 bytes left out …]\nghij");
  expect(output.bytes).toBe(10);
});
