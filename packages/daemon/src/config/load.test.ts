import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadConfig } from "./load.ts";

let home: string;
let cwd: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "thinkery-config-"));
  cwd = join(home, "work");
  await mkdir(cwd);
});

afterEach(() => rm(home, { recursive: true }));

test("without files the defaults hold", async () => {
  const { config, files } = await loadConfig(join(home, "not-there"), cwd);
  expect(config).toEqual({ sandboxSlots: 2, failuresPerMinute: 5, allowedHosts: [], allowedOrigins: [] });
  expect(files).toEqual([]);
});

test("the working folder wins over the data folder, key by key", async () => {
  await writeFile(join(home, "config.jsonc"), '{ "port": 6000, "sandboxSlots": 5 }');
  await writeFile(join(cwd, "thinkery.jsonc"), '{ "port": 7000 }');
  const { config, files } = await loadConfig(home, cwd);
  expect(config).toMatchObject({ port: 7000, sandboxSlots: 5 });
  expect(files).toHaveLength(2);
});

test("a file that cannot be read is a clear error, not a missing file", async () => {
  await mkdir(join(cwd, "thinkery.jsonc"));
  await expect(loadConfig(home, cwd)).rejects.toThrow(/thinkery\.jsonc cannot be read/);
});

test("an error names the file it is in", async () => {
  await writeFile(join(home, "config.jsonc"), '{ "prot": 1 }');
  await expect(loadConfig(home, cwd)).rejects.toThrow(/config\.jsonc, line 1, column 3: unknown key “prot”/);
});
