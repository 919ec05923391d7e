import { deflateRawSync } from "node:zlib";
import { type ZipEntry, zipFiles } from "@thinkery/sdk/internal";
import { unzipSync, zipSync } from "fflate";
import { expect, test } from "vitest";
import { listZipFiles } from "./unzip.ts";

// Zips that another program made are read, zips that we make are read by another, and what is odd is refused by name.

const limits = { maxFiles: 100, maxFileMb: 1, maxTotalMb: 2 };
const bytes = (text: string) => new TextEncoder().encode(text);

const createZip = (files: Record<string, Uint8Array>, options = {}) => Buffer.from(zipSync(files, options));

function read(zip: Uint8Array): Record<string, string> {
  return Object.fromEntries(
    listZipFiles(zip, limits).map(({ path, unpack }) => [path, Buffer.from(unpack()).toString("latin1")]),
  );
}

const refusal = (zip: Uint8Array): { code?: string; message: string } => {
  try {
    read(zip);
  } catch (error) {
    return error as Error;
  }
  return { message: "read without complaint" };
};

/** A zip with some of its bytes set anew: from the entry in its directory, or from its head. */
function patchZip(
  zip: Buffer,
  {
    entry = [],
    head = [],
    end = [],
  }: { entry?: [number, number, number][]; head?: [number, number, number][]; end?: [number, number, number][] },
): Buffer {
  const copy = Buffer.from(zip);
  const set = (from: number, all: [number, number, number][]) => {
    for (const [at, value, width] of all) copy.writeUIntLE(value, from + at, width);
  };
  set(copy.indexOf("PK\u0001\u0002", 0, "latin1"), entry);
  set(0, head);
  set(copy.lastIndexOf("PK\u0005\u0006", undefined, "latin1"), end);
  return copy;
}

const one = createZip({ "a.txt": bytes("hello hello hello hello hello") });

test("a zip that another program made is read: packed and stored files, folders, names in UTF-8, a comment", () => {
  const files = {
    "a.txt": bytes("a".repeat(1000)),
    "docs/": bytes(""),
    "docs/résumé.md": bytes("# é"),
    "empty.txt": bytes(""),
    "./b.txt": bytes("b"),
  };
  const due = {
    "a.txt": "a".repeat(1000),
    "docs/résumé.md": Buffer.from("# é").toString("latin1"),
    "empty.txt": "",
    "b.txt": "b",
  };
  expect(read(createZip(files))).toEqual(due);
  expect(read(createZip(files, { level: 0 }))).toEqual(due);
  expect(read(createZip(files, { comment: "made by somebody" }))).toEqual(due);
  const commented = Buffer.concat([patchZip(one, { end: [[20, 4, 2]] }), Buffer.from("note")]);
  expect(read(commented)).toEqual({ "a.txt": "hello hello hello hello hello" });
  expect(read(createZip({}))).toEqual({});
});

test("a zip that we make is read by another program, byte by byte", async () => {
  const random = Uint8Array.from({ length: 50_000 }, (_, index) => (index * 7919 + (index >> 3)) % 251);
  const files: ZipEntry[] = [
    { path: "a.txt", data: bytes("a".repeat(1000)), modifiedAt: new Date("2026-11-15T20:00:02Z") },
    { path: "docs/résumé.md", data: bytes("# é"), modifiedAt: new Date(0) },
    { path: "empty.txt", data: bytes(""), modifiedAt: new Date() },
    { path: "p.png", data: random, modifiedAt: new Date(), stored: true },
  ];
  for (const deflate of [undefined, (data: Uint8Array) => deflateRawSync(data)]) {
    const pieces: Uint8Array[] = [];
    for await (const piece of zipFiles(files, deflate)) pieces.push(piece);
    const zip = Buffer.concat(pieces);
    expect(zip.length < 51_000).toBe(deflate !== undefined);
    const found = unzipSync(zip);
    expect(Object.keys(found)).toEqual(files.map(({ path }) => path));
    for (const { path, data } of files)
      expect([path, Buffer.compare(found[path] as Uint8Array, data)]).toEqual([path, 0]);
    expect(Object.keys(read(zip))).toEqual(files.map(({ path }) => path));
  }
});

test.each([
  "../a.txt",
  "a/../../b.txt",
  "/etc/passwd",
  "..\\a.txt",
  "C:\\a.txt",
  "a\0b",
  "..",
  "a//b.txt",
  "con",
  "../",
  "a/../../b/",
  "\u202etxt.exe",
])("a file or folder called %j is not taken out", (name) => {
  expect(refusal(createZip({ "good.txt": bytes("x"), [name]: bytes(name.endsWith("/") ? "" : "x") }))).toMatchObject({
    code: "bad_request",
  });
});

test.each<[string, Buffer, RegExp, string?]>([
  ["nothing", Buffer.alloc(0), /no end/],
  ["no zip", Buffer.from("hello".repeat(100)), /no end/],
  ["a zip that is cut off", one.subarray(0, -5), /no end/],
  ["bytes before it", Buffer.concat([Buffer.from("junk"), one]), /directory is not where/],
  ["bytes after it", Buffer.concat([one, Buffer.from("junk")]), /no end/],
  ["an encrypted file", patchZip(one, { entry: [[8, 1, 2]] }), /encrypted/],
  ["a strongly encrypted file", patchZip(one, { entry: [[8, 0x41, 2]] }), /encrypted/],
  ["a hidden directory", patchZip(one, { entry: [[8, 0x2000, 2]] }), /encrypted/],
  ["another way to pack", patchZip(one, { entry: [[10, 12, 2]] }), /not read here \(12\)/],
  [
    "a symbolic link",
    patchZip(one, {
      entry: [
        [5, 3, 1],
        [40, 0o120777, 2],
      ],
    }),
    /symbolic link/,
  ],
  [
    "a device",
    patchZip(one, {
      entry: [
        [5, 3, 1],
        [40, 0o060644, 2],
      ],
    }),
    /neither a file nor a folder/,
  ],
  [
    "zip64 by its count",
    patchZip(one, {
      end: [
        [8, 0xffff, 2],
        [10, 0xffff, 2],
      ],
    }),
    /zip64/,
  ],
  ["zip64 by a size", patchZip(one, { entry: [[24, 0xffffffff, 4]] }), /zip64/],
  ["one part of several", patchZip(one, { end: [[4, 1, 2]] }), /one part of several/],
  [
    "a count that is too high",
    patchZip(one, {
      end: [
        [8, 2, 2],
        [10, 2, 2],
      ],
    }),
    /cut off/,
  ],
  [
    "a count that is too low",
    patchZip(createZip({ "a.txt": bytes("a"), "b.txt": bytes("b") }), {
      end: [
        [8, 1, 2],
        [10, 1, 2],
      ],
    }),
    /something else in it/,
  ],
  ["a place that is outside", patchZip(one, { entry: [[42, 0x7fffffff, 4]] }), /is not there/],
  ["a packed size that is outside", patchZip(one, { entry: [[20, 0x7fffffff, 4]] }), /cut off/],
  ["another name in a second place", patchZip(one, { head: [[30, 0x62, 1]] }), /another name/],
  ["a name that is not UTF-8", patchZip(one, { entry: [[46, 0xff, 1]], head: [[30, 0xff, 1]] }), /not UTF-8/],
  ["a checksum that does not fit", patchZip(one, { entry: [[16, 1, 4]] }), /is not what it was/],
  ["less than it says", patchZip(one, { entry: [[24, 30, 4]] }), /is not what it was/],
  ["more than it says", patchZip(one, { entry: [[24, 5, 4]] }), /larger than it says/],
  ["more than there can be", patchZip(one, { entry: [[24, 1_000_000, 4]] }), /cannot be as large/],
  ["damaged content", patchZip(one, { head: [[35, 0xffff, 2]] }), /cannot be unpacked|is not what it was/],
  ["a file twice", createZip({ "a.txt": bytes("a"), "./a.txt": bytes("b") }), /twice/],
  [
    "a file that is too large",
    createZip({ "a.txt": new Uint8Array(1024 * 1024 + 1) }),
    /“a.txt” is too large/,
    "too_large",
  ],
  [
    "too much in all",
    createZip(Object.fromEntries(["a", "b", "c"].map((name) => [name, new Uint8Array(1024 * 1024)]))),
    /too large/,
    "too_large",
  ],
  [
    "too many files",
    createZip(Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`f${index}`, bytes("")]))),
    /101 files/,
    "too_large",
  ],
])("%s is refused, and it is said why", (_, zip, why, code = "bad_request") => {
  const { message, code: given } = refusal(zip) as { code?: string; message: string };
  expect(message).toMatch(why);
  expect(given).toBe(code);
});

test("files that lie in each other, which is how a small zip unpacks to very much, are refused", () => {
  const zip = createZip({ "a.txt": bytes("a".repeat(1000)), "b.txt": bytes("b".repeat(1000)) });
  const second = zip.indexOf("PK\u0001\u0002", zip.indexOf("PK\u0001\u0002", 0, "latin1") + 1, "latin1");
  const overlapping = Buffer.from(zip);
  overlapping.writeUInt32LE(0, second + 42);
  expect(refusal(overlapping)).toMatchObject({
    code: "bad_request",
    message: expect.stringContaining("lies in another file"),
  });
});

test("no bytes of a zip, whatever they are changed to, bring out anything but files or a refusal", () => {
  const zip = createZip({ "a.txt": bytes("hello hello hello"), "docs/b.txt": bytes("b") });
  let read = 0;
  for (let at = 0; at < zip.length; at++) {
    for (const value of [0, 1, 0x7f, 0x80, 0xff, (zip[at] as number) ^ 1]) {
      const copy = Buffer.from(zip);
      copy[at] = value;
      const { code, message } = refusal(copy);
      if (message === "read without complaint") read++;
      else expect([at, value, code]).toEqual([at, value, expect.stringMatching(/^(?:bad_request|too_large)$/)]);
    }
  }
  expect(read).toBeGreaterThan(0);
});
