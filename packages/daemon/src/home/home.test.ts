import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { locateHome, openHome } from "./home.ts";

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "thinkery-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const getMode = (path: string) => statSync(path).mode & 0o777;

test("a new home is private, has its folders and a format file", async () => {
  const home = await openHome({ THINKERY_HOME: join(createFolder(), "deep", "home") });
  for (const path of [home.path, home.objects, home.blobs, home.logs, home.run]) expect(getMode(path)).toBe(0o700);
  expect(JSON.parse(readFileSync(join(home.path, "format.json"), "utf8"))).toEqual({ format: 1 });
});

test("the home is ~/.thinkery unless THINKERY_HOME is set", () => {
  expect(locateHome({}).path).toBe(join(homedir(), ".thinkery"));
  expect(locateHome({ THINKERY_HOME: "" }).path).toBe(join(homedir(), ".thinkery"));
});

test("locating a home creates nothing", () => {
  const path = join(createFolder(), "home");
  expect(locateHome({ THINKERY_HOME: path }).tokenFile).toBe(join(path, "token"));
  expect(existsSync(path)).toBe(false);
});

test("loose permissions are tightened and existing files are kept", async () => {
  const path = createFolder();
  writeFileSync(join(path, "config.jsonc"), "{}");
  chmodSync(path, 0o755);
  const home = await openHome({ THINKERY_HOME: path });
  expect(getMode(home.path)).toBe(0o700);
  expect(readFileSync(join(path, "config.jsonc"), "utf8")).toBe("{}");
});

test("a home of a newer version is rejected and not changed", async () => {
  const path = createFolder();
  writeFileSync(join(path, "format.json"), '{"format":2}');
  chmodSync(path, 0o755);
  await expect(openHome({ THINKERY_HOME: path })).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("newer Thinkery"),
  });
  expect(readdirSync(path)).toEqual(["format.json"]);
  expect(getMode(path)).toBe(0o755);
});

test("a damaged format file is an error and is not overwritten", async () => {
  const path = createFolder();
  writeFileSync(join(path, "format.json"), "{");
  await expect(openHome({ THINKERY_HOME: path })).rejects.toMatchObject({ code: "unavailable" });
  expect(readFileSync(join(path, "format.json"), "utf8")).toBe("{");
});

test("a file at the path of the home is a clear error", async () => {
  const path = join(createFolder(), "home");
  writeFileSync(path, "mine");
  for (const place of [path, join(path, "below")]) {
    await expect(openHome({ THINKERY_HOME: place })).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("folder"),
    });
  }
  expect(readFileSync(path, "utf8")).toBe("mine");
});

test("a home that is not writable is a clear error", async () => {
  // Not even root can create folders there.
  await expect(openHome({ THINKERY_HOME: "/proc/thinkery" })).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("/proc/thinkery"),
  });
});

test("a shared folder is rejected", async () => {
  const path = createFolder();
  chmodSync(path, 0o1777);
  await expect(openHome({ THINKERY_HOME: path })).rejects.toMatchObject({ code: "unavailable" });
  await expect(openHome({ THINKERY_HOME: "/" })).rejects.toMatchObject({ code: "unavailable" });
  expect(statSync(path).mode & 0o7777).toBe(0o1777);
});

test("sockets of a home with a long path get a short private folder", async () => {
  const path = join(createFolder(), "x".repeat(100));
  const home = await openHome({ THINKERY_HOME: path });
  onTestFinished(() => rmSync(home.run, { recursive: true, force: true }));
  expect(home.run.length).toBeLessThan(75);
  expect(getMode(home.run)).toBe(0o700);
  expect(locateHome({ THINKERY_HOME: path }).run).toBe(home.run);
});

test("a short socket folder that another user prepared is rejected", async () => {
  const path = join(createFolder(), "y".repeat(100));
  mkdirSync(path);
  const { run } = locateHome({ THINKERY_HOME: path });
  symlinkSync(createFolder(), run);
  onTestFinished(() => rmSync(run, { force: true }));
  await expect(openHome({ THINKERY_HOME: path })).rejects.toMatchObject({ code: "unavailable" });
});

test("two spellings of one folder are one home", async () => {
  const path = createFolder();
  const link = join(createFolder(), "link");
  symlinkSync(path, link);
  expect(await openHome({ THINKERY_HOME: link })).toEqual(locateHome({ THINKERY_HOME: path }));
});
