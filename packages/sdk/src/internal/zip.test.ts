import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { type Deflate, type ZipEntry, zipFiles } from "./zip.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const modifiedAt = new Date("2026-11-15T20:01:02Z");
const deflate: Deflate = (data, { store }) => deflateRawSync(data, { level: store ? 0 : 3 });

async function zip(files: ZipEntry[], by?: Deflate): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of zipFiles(files, by)) chunks.push(chunk);
  expect(chunks.every(({ length }) => length > 0)).toBe(true);
  return Buffer.concat(chunks);
}

/** Parses the first entry of the central directory. */
function parseDirectoryEntry(zipped: Buffer) {
  const at = zipped.indexOf("PK\u0001\u0002", 0, "latin1");
  const [time, date] = [zipped.readUInt16LE(at + 12), zipped.readUInt16LE(at + 14)];
  return {
    system: zipped[at + 5],
    isUtf8: (zipped.readUInt16LE(at + 8) & 0x0800) !== 0,
    method: zipped.readUInt16LE(at + 10),
    date: [(date >> 9) + 1980, (date >> 5) & 15, date & 31, time >> 11, (time >> 5) & 63, (time & 31) * 2],
    size: zipped.readUInt32LE(at + 20),
    mode: zipped.readUInt16LE(at + 40),
  };
}

test("files are read one at a time while the zip is consumed", async () => {
  const read: string[] = [];
  const files = (function* () {
    for (const path of ["a", "b", "c"]) {
      read.push(path);
      yield { path, data: bytes(path), modifiedAt };
    }
  })();
  const zip = zipFiles(files, deflate);
  await zip.next();
  expect(read).toEqual(["a"]);
  await zip.next();
  await zip.next();
  expect(read).toEqual(["a"]);
  await zip.next();
  expect(read).toEqual(["a", "b"]);
  await zip.return(undefined);
  expect(read).toEqual(["a", "b"]);
});

test("an entry has its date in UTC, permissions, and a UTF-8 name in every time zone", async () => {
  const zone = process.env.TZ;
  onTestFinished(() => {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  });
  const zips = await Promise.all(
    ["UTC", "Asia/Kolkata", "America/New_York"].map((name) => {
      process.env.TZ = name;
      expect(modifiedAt.getTimezoneOffset()).toBe({ UTC: 0, "Asia/Kolkata": -330, "America/New_York": 300 }[name]);
      return zip([{ path: "dé.txt", data: bytes("x"), modifiedAt }]);
    }),
  );
  for (const bytes of zips) expect(bytes.equals(zips[0] as Buffer)).toBe(true);
  expect(parseDirectoryEntry(zips[0] as Buffer)).toMatchObject({
    system: 3,
    mode: 0o100644,
    isUtf8: true,
    date: [2026, 11, 15, 20, 1, 2],
  });
});

test("dates that the format cannot express become the nearest that it can", async () => {
  const getZippedDate = async (date: string) =>
    parseDirectoryEntry(await zip([{ path: "a", data: bytes("x"), modifiedAt: new Date(date) }])).date;
  expect(await getZippedDate("1970-01-01T00:00:00Z")).toEqual([1980, 1, 1, 0, 0, 0]);
  expect(await getZippedDate("2200-01-01T00:00:00Z")).toEqual([2099, 12, 31, 23, 59, 58]);
});

test("compressed data is not compressed again", async () => {
  const data = bytes("a".repeat(100_000));
  const entry = async (stored: boolean, by?: Deflate) =>
    parseDirectoryEntry(await zip([{ path: "a", data, modifiedAt, stored }], by));
  expect((await entry(false, deflate)).size).toBeLessThan(1000);
  expect((await entry(true, deflate)).size).toBeGreaterThan(100_000);
  expect(await entry(false)).toMatchObject({ method: 0, size: 100_000 });
});

test("a zip cannot have more entries than the format allows", async () => {
  let count = 0;
  const files = (function* () {
    for (;;) yield { path: `${++count}`, data: bytes(""), modifiedAt };
  })();
  const write = async () => {
    for await (const _ of zipFiles(files));
  };
  await expect(write()).rejects.toMatchObject({ code: "too_large" });
  expect(count).toBe(65_535);
});

const hasUnzip = spawnSync("unzip", ["-v"]).status === 0;

test.skipIf(!hasUnzip)("unzip accepts the zip", async () => {
  const files = [
    { path: "a.txt", data: bytes("a".repeat(1000)), modifiedAt },
    { path: "docs/résumé.md", data: bytes("# é"), modifiedAt },
    { path: "empty.txt", data: bytes(""), modifiedAt },
    { path: "p.png", data: new Uint8Array(randomBytes(200_000)), modifiedAt, stored: true },
  ];
  const folder = mkdtempSync(join(tmpdir(), "zip-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const by of [undefined, deflate]) {
    writeFileSync(join(folder, "x.zip"), await zip(files, by));
    const { status, stdout } = spawnSync("unzip", ["-t", join(folder, "x.zip")]);
    expect([status, stdout.toString()]).toEqual([0, expect.stringContaining("No errors detected")]);
  }
});
