import { deflateRawSync } from "node:zlib";
import { type ZipEntry, zipFiles } from "@thinkery/sdk/internal";
import { unzipSync, zipSync } from "fflate";
import { expect, test } from "vitest";
import { completeWork } from "../../host/fair-work.ts";
import { listZipFiles } from "./unzip.ts";

// Zips from another implementation can be read, it can read ours, and anything unusual is rejected with a reason.

const limits = { maxFiles: 100, maxFileMb: 1, maxTotalMb: 2 };
const bytes = (text: string) => new TextEncoder().encode(text);

const createZip = (files: Record<string, Uint8Array>, options = {}) => Buffer.from(zipSync(files, options));

function read(zip: Uint8Array): Record<string, string> {
  return Object.fromEntries(
    completeWork(listZipFiles(zip, limits)).map(({ path, unpack }) => [path, Buffer.from(unpack()).toString("latin1")]),
  );
}

const readError = (zip: Uint8Array): { code?: string; message: string } => {
  try {
    read(zip);
  } catch (error) {
    return error as Error;
  }
  return { message: "no error" };
};

/** Overwrites bytes of a zip, relative to its first directory entry, its start or its end record. */
function patchZip(
  zip: Buffer,
  {
    entry = [],
    head = [],
    end = [],
  }: { entry?: [number, number, number][]; head?: [number, number, number][]; end?: [number, number, number][] },
): Buffer {
  const copy = Buffer.from(zip);
  const set = (from: number, patches: [number, number, number][]) => {
    for (const [at, value, width] of patches) copy.writeUIntLE(value, from + at, width);
  };
  set(copy.indexOf("PK\u0001\u0002", 0, "latin1"), entry);
  set(0, head);
  set(copy.lastIndexOf("PK\u0005\u0006", undefined, "latin1"), end);
  return copy;
}

const singleFileZip = createZip({ "a.txt": bytes("hello hello hello hello hello") });

test("a zip from another implementation can be read: deflated and stored files, folders, UTF-8 names, a comment", () => {
  const files = {
    "a.txt": bytes("a".repeat(1000)),
    "docs/": bytes(""),
    "docs/résumé.md": bytes("# é"),
    "empty.txt": bytes(""),
    "./b.txt": bytes("b"),
  };
  const expected = {
    "a.txt": "a".repeat(1000),
    "docs/résumé.md": Buffer.from("# é").toString("latin1"),
    "empty.txt": "",
    "b.txt": "b",
  };
  expect(read(createZip(files))).toEqual(expected);
  expect(read(createZip(files, { level: 0 }))).toEqual(expected);
  expect(read(createZip(files, { comment: "made by somebody" }))).toEqual(expected);
  const commented = Buffer.concat([patchZip(singleFileZip, { end: [[20, 4, 2]] }), Buffer.from("note")]);
  expect(read(commented)).toEqual({ "a.txt": "hello hello hello hello hello" });
  expect(read(createZip({}))).toEqual({});
});

test("another implementation reads our zip byte for byte", async () => {
  const random = Uint8Array.from({ length: 50_000 }, (_, index) => (index * 7919 + (index >> 3)) % 251);
  const files: ZipEntry[] = [
    { path: "a.txt", data: bytes("a".repeat(1000)), modifiedAt: new Date("2026-11-15T20:00:02Z") },
    { path: "docs/résumé.md", data: bytes("# é"), modifiedAt: new Date(0) },
    { path: "empty.txt", data: bytes(""), modifiedAt: new Date() },
    { path: "p.png", data: random, modifiedAt: new Date(), stored: true },
  ];
  for (const deflate of [undefined, (data: Uint8Array) => deflateRawSync(data)]) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of zipFiles(files, deflate)) chunks.push(chunk);
    const zip = Buffer.concat(chunks);
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
])("a file or folder named %j is rejected", (name) => {
  expect(readError(createZip({ "good.txt": bytes("x"), [name]: bytes(name.endsWith("/") ? "" : "x") }))).toMatchObject({
    code: "bad_request",
  });
});

test.each<[string, Buffer, RegExp, string?]>([
  ["an empty file", Buffer.alloc(0), /end record is missing/],
  ["a file that is not a zip", Buffer.from("hello".repeat(100)), /end record is missing/],
  ["a truncated zip", singleFileZip.subarray(0, -5), /end record is missing/],
  ["leading bytes", Buffer.concat([Buffer.from("junk"), singleFileZip]), /wrong offset/],
  ["trailing bytes", Buffer.concat([singleFileZip, Buffer.from("junk")]), /end record is missing/],
  ["an encrypted file", patchZip(singleFileZip, { entry: [[8, 1, 2]] }), /encrypted/],
  ["a strongly encrypted file", patchZip(singleFileZip, { entry: [[8, 0x41, 2]] }), /encrypted/],
  ["an encrypted directory", patchZip(singleFileZip, { entry: [[8, 0x2000, 2]] }), /encrypted/],
  ["an unsupported compression method", patchZip(singleFileZip, { entry: [[10, 12, 2]] }), /compression method 12/],
  [
    "a symbolic link",
    patchZip(singleFileZip, {
      entry: [
        [5, 3, 1],
        [40, 0o120777, 2],
      ],
    }),
    /symbolic link/,
  ],
  [
    "a device",
    patchZip(singleFileZip, {
      entry: [
        [5, 3, 1],
        [40, 0o060644, 2],
      ],
    }),
    /neither a file nor a folder/,
  ],
  [
    "zip64, by its count",
    patchZip(singleFileZip, {
      end: [
        [8, 0xffff, 2],
        [10, 0xffff, 2],
      ],
    }),
    /zip64/,
  ],
  ["zip64, by a size", patchZip(singleFileZip, { entry: [[24, 0xffffffff, 4]] }), /zip64/],
  ["a split archive", patchZip(singleFileZip, { end: [[4, 1, 2]] }), /split archive/],
  [
    "a count that is too high",
    patchZip(singleFileZip, {
      end: [
        [8, 2, 2],
        [10, 2, 2],
      ],
    }),
    /truncated/,
  ],
  [
    "a count that is too low",
    patchZip(createZip({ "a.txt": bytes("a"), "b.txt": bytes("b") }), {
      end: [
        [8, 1, 2],
        [10, 1, 2],
      ],
    }),
    /unexpected data/,
  ],
  ["an offset out of range", patchZip(singleFileZip, { entry: [[42, 0x7fffffff, 4]] }), /has no local header/],
  ["a packed size out of range", patchZip(singleFileZip, { entry: [[20, 0x7fffffff, 4]] }), /truncated/],
  ["a different name in the local header", patchZip(singleFileZip, { head: [[30, 0x62, 1]] }), /different name/],
  ["a name that is not UTF-8", patchZip(singleFileZip, { entry: [[46, 0xff, 1]], head: [[30, 0xff, 1]] }), /not UTF-8/],
  ["a wrong checksum", patchZip(singleFileZip, { entry: [[16, 1, 4]] }), /does not match its size or checksum/],
  ["less data than declared", patchZip(singleFileZip, { entry: [[24, 30, 4]] }), /does not match its size or checksum/],
  ["more data than declared", patchZip(singleFileZip, { entry: [[24, 5, 4]] }), /larger than it declares/],
  ["an impossible size", patchZip(singleFileZip, { entry: [[24, 1_000_000, 4]] }), /impossible size/],
  [
    "damaged content",
    patchZip(singleFileZip, { head: [[35, 0xffff, 2]] }),
    /cannot be decompressed|does not match its size or checksum/,
  ],
  ["a file twice", createZip({ "a.txt": bytes("a"), "./a.txt": bytes("b") }), /twice/],
  [
    "a file that is too large",
    createZip({ "a.txt": new Uint8Array(1024 * 1024 + 1) }),
    /“a.txt” is too large/,
    "too_large",
  ],
  [
    "files that are too large in total",
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
])("%s is rejected with a reason", (_, zip, reason, code = "bad_request") => {
  const error = readError(zip);
  expect(error.message).toMatch(reason);
  expect(error.code).toBe(code);
});

test("overlapping files, as in a zip bomb, are rejected", () => {
  const zip = createZip({ "a.txt": bytes("a".repeat(1000)), "b.txt": bytes("b".repeat(1000)) });
  const second = zip.indexOf("PK\u0001\u0002", zip.indexOf("PK\u0001\u0002", 0, "latin1") + 1, "latin1");
  const overlapping = Buffer.from(zip);
  overlapping.writeUInt32LE(0, second + 42);
  expect(readError(overlapping)).toMatchObject({
    code: "bad_request",
    message: expect.stringContaining("overlaps another file"),
  });
});

test("changing any byte of a zip yields files or a typed error", () => {
  const zip = createZip({ "a.txt": bytes("hello hello hello"), "docs/b.txt": bytes("b") });
  let readable = 0;
  for (let at = 0; at < zip.length; at++) {
    for (const value of [0, 1, 0x7f, 0x80, 0xff, (zip[at] as number) ^ 1]) {
      const copy = Buffer.from(zip);
      copy[at] = value;
      const { code, message } = readError(copy);
      if (message === "no error") readable++;
      else expect([at, value, code]).toEqual([at, value, expect.stringMatching(/^(?:bad_request|too_large)$/)]);
    }
  }
  expect(readable).toBeGreaterThan(0);
});
