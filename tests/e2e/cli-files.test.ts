import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startHost, type TestHost } from "@thinkery/sdk/test";
import { unzipSync, zipSync } from "fflate";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run as runInProcess } from "../../packages/daemon/src/cli/run.ts";
import { type CliResult, runCli } from "../kit/host-process.ts";

// Files, versions and branches in the CLI.

let host: TestHost;
let folder: string;
let agentCount = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "thinkery-files-"));
  host = await startHost();
});

afterAll(async () => {
  await host?.stop();
  await rm(folder, { recursive: true });
});

const newAgent = () => host.agent(`clerk-${++agentCount}`);

/** Runs the CLI in this process, because spawning one would take most of the time. */
async function thinkery(argv: string[], { isTTY = false } = {}): Promise<CliResult> {
  const output: Record<"out" | "err", Buffer[]> = { out: [], err: [] };
  const sink = (chunks: Buffer[]) => ({
    isTTY,
    write: (text: string | Uint8Array) => chunks.push(Buffer.from(text as string)),
  });
  const env = { THINKERY_HOME: join(folder, "home"), THINKERY_URL: host.url, THINKERY_TOKEN: host.token };
  const options = {
    argv,
    env,
    cwd: folder,
    entry: "",
    version: undefined,
    isInteractive: false,
    takeOverInterrupts: () => {},
  };
  const code = await runInProcess({ ...options, stdout: sink(output.out), stderr: sink(output.err) });
  return { code, stdout: Buffer.concat(output.out).toString(), stderr: Buffer.concat(output.err).toString() };
}

async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await thinkery(args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: "" });
  return stdout;
}

const runJson = async (...args: string[]) => JSON.parse(await run(...args, "--json"));

async function expectError(args: string[], code: number, message: RegExp): Promise<void> {
  const result = await thinkery(args);
  expect({ args, code: result.code, stdout: result.stdout }).toEqual({ args, code, stdout: "" });
  expect(result.stderr).toMatch(message);
}

test("a file or folder from elsewhere is uploaded under its base name", async () => {
  const { name: to } = await newAgent();
  await mkdir(join(folder, "elsewhere/deep"), { recursive: true });
  await writeFile(join(folder, "elsewhere/deep/one.md"), "1");
  expect(await run("files", "put", to, join(folder, "elsewhere/deep/one.md"))).toBe(
    "Wrote one.md (1 B) as version 1.\n",
  );
  expect(await run("files", "put", to, join(folder, "elsewhere"))).toBe("Version 2: +elsewhere/deep/one.md.\n");
});

test("a file is uploaded, listed, downloaded, moved and deleted", async () => {
  const agent = await newAgent();
  const to = agent.name;
  expect(await run("files", "ls", to)).toBe(`${to} has no files. Add some with \`thinkery files put\`.\n`);
  await writeFile(join(folder, "notes.md"), "# Notes\n");
  expect(await run("files", "put", to, "notes.md")).toBe("Wrote notes.md (8 B) as version 1.\n");
  expect(await runJson("files", "put", to, "docs/other.md", "notes.md")).toMatchObject({
    path: "docs/other.md",
    kind: "text",
    version: 2,
  });
  const piped = await runCli(["files", "put", to, "piped.bin", "-"], host.home, { input: "from\u0000stdin" });
  expect([piped.code, piped.stdout]).toEqual([0, "Wrote piped.bin (10 B) as version 3.\n"]);
  expect(await run("files", "ls", to)).toMatch(
    /^SIZE +MODIFIED +VERSION +BY +PATH\n8 B +\S+ +2 +owner +docs\/other\.md\n8 B +\S+ +1 +owner +notes\.md\n10 B +\S+ +3 +owner +piped\.bin\n$/,
  );
  expect((await runJson("files", "ls", to, "docs/")).files).toMatchObject([{ path: "docs/other.md" }]);
  expect(await run("files", "get", to, "notes.md")).toBe("# Notes\n");
  expect(await run("files", "get", to, "piped.bin")).toBe("from\u0000stdin");
  expect(await runJson("files", "get", to, "notes.md")).toMatchObject({ path: "notes.md", content: "# Notes\n" });
  expect(await runJson("files", "get", to, "piped.bin")).toMatchObject({
    base64: Buffer.from("from\u0000stdin").toString("base64"),
  });
  expect(await run("files", "get", to, "piped.bin", "-o", "saved.bin")).toBe("Saved piped.bin to saved.bin (10 B).\n");
  expect(await readFile(join(folder, "saved.bin"), "utf8")).toBe("from\u0000stdin");
  await expectError(["files", "put", to, "notes.md", "--new"], 1, /already exists/);
  await agent.putFile("notes.md", "# Other notes\n");
  expect(await run("files", "get", to, "notes.md", "--at", "1")).toBe("# Notes\n");
  expect(await run("files", "mv", to, "notes.md", "docs/")).toBe("Moved notes.md to docs/notes.md.\n");
  expect(await run("files", "rm", to, "piped.bin")).toBe("Deleted piped.bin.\n");
  await expectError(["files", "rm", to, "docs"], 2, /is a folder/);
  expect(await runJson("files", "rm", "-r", to, "docs/")).toEqual({ deleted: "docs" });
  expect(await runJson("files", "ls", to)).toEqual({ files: [] });
});

test("errors have a message and the right exit code", async () => {
  const { name } = await newAgent();
  await expectError(["files", "get", name, "nowhere.md"], 1, /File “nowhere.md” not found/);
  await expectError(["files", "get", name, "../x"], 2, /Invalid path/);
  await expectError(["files", "get", "nobody", "x"], 1, /Agent “nobody” not found/);
  await expectError(["files", "put", name, "x", "not-here.txt"], 2, /Cannot read “not-here.txt”: ENOENT/);
  await expectError(["files", "put", name, "con", "notes.md"], 2, /device/);
  await expectError(["files", "ls", name, "nowhere"], 1, /Folder “nowhere” not found/);
  await expectError(["files", "get", name, "x", "--at", "zero"], 2, /whole number/);
  await expectError(["files", "get", name, "x", "--branch", "no/branch"], 2, /branch/);
  await expectError(["files", "unzip", name, "notes.md"], 2, /end record is missing/);
  await expectError(["files", "zip", name, "-o", "."], 2, /Cannot write “\.”/);
  await expectError(["revert", name], 2, /a version, --turn <id> or --call <id>/);
  await expectError(["revert", name, "1", "--turn", "x"], 2, /Specify what to revert/);
  await expectError(["revert", name, "1"], 1, /no version 1/);
  await expectError(["versions", "show", name, "7"], 1, /no version 7/);
  await expectError(["branch", "rm", name, "main", "--yes"], 1, /cannot be removed/);
  await expectError(["branch", "merge", name, "nowhere"], 1, /no branch “nowhere”/);
});

test("a folder is uploaded as one version without ignored files, and downloaded as a zip", async () => {
  const agent = await newAgent();
  const to = agent.name;
  const site = join(folder, "site");
  for (const path of [".git", "node_modules/left", "src/deep"]) await mkdir(join(site, path), { recursive: true });
  const files = {
    ".git/config": "x",
    "node_modules/left/pad.js": "x",
    ".gitignore": "*.log\n",
    "debug.log": "x",
    "index.html": "<p>",
    "src/deep/a.ts": "export {}",
    "p.bin": "\u0000\u0001",
  };
  for (const [path, text] of Object.entries(files)) await writeFile(join(site, path), text);
  await symlink("/etc/hostname", join(site, "link"));
  const put = await thinkery(["files", "put", to, "web", "site"]);
  expect([put.code, put.stdout, put.stderr]).toEqual([
    0,
    "Version 1: +web/.gitignore +web/index.html +web/p.bin and 1 more.\n",
    "skipped link (symbolic link)\n",
  ]);
  expect((await agent.files()).files.map(({ path }) => path)).toEqual([
    "web/.gitignore",
    "web/index.html",
    "web/p.bin",
    "web/src/deep/a.ts",
  ]);
  expect((await agent.file("web/p.bin")).bytes).toEqual(Uint8Array.from([0, 1]));
  const again = await thinkery(["files", "put", to, "web", "site", "--json"]);
  expect(JSON.parse(again.stdout)).toEqual({ overlaps: [] });

  expect(await run("files", "zip", to, "--under", "web/src")).toMatch(
    new RegExp(`^Saved ${to}'s files to ${to}\\.zip \\(\\d+ B\\)\\.\n$`),
  );
  expect(Object.keys(unzipSync(await readFile(join(folder, `${to}.zip`))))).toEqual(["web/src/deep/a.ts"]);
  await expectError(["files", "zip", to], 1, /already exists/);
  expect(await runJson("files", "zip", to, "-o", "all.zip")).toMatchObject({ agent: to, saved: "all.zip" });
  expect(Object.keys(unzipSync(await readFile(join(folder, "all.zip"))))).toHaveLength(4);

  await writeFile(join(folder, "new.zip"), zipSync({ "only.txt": Buffer.from("only") }));
  expect(await run("files", "unzip", to, "new.zip", "--replace")).toBe(
    "Version 2: +only.txt -web/.gitignore -web/index.html and 2 more.\n",
  );
  expect(await run("revert", to, "2")).toMatch(/^Reverted as version 3: -only\.txt \+web\/\.gitignore /);
  expect(await run("files", "put", to, ".", "site/src")).toContain("+deep/a.ts");
});

test("versions are listed, shown and reverted; conflicts are reported", async () => {
  const agent = await newAgent();
  const to = agent.name;
  expect(await run("versions", to)).toBe(`${to}'s files have no versions yet.\n`);
  await agent.putFile("a.txt", "one\ntwo\nthree\n");
  await agent.putFile("a.txt", "one\n2\nthree\n");
  await agent.putFile("b.bin", new Uint8Array([0, 1, 2]));
  expect(await run("versions", to)).toMatch(
    /^VERSION +WHEN +BY +CHANGED\n3 +\S+ +owner +\+b\.bin\n2 +\S+ +owner +~a\.txt\n1 +\S+ +owner +\+a\.txt\n$/,
  );
  expect((await runJson("versions", to, "a.txt")).versions.map(({ id }: { id: number }) => id)).toEqual([2, 1]);
  expect(await run("versions", to, "--limit", "2")).toMatch(/\nFor older versions, use --before 2\n$/);
  expect((await runJson("versions", to, "--before", "2")).versions).toHaveLength(1);
  const shown = await run("versions", "show", to, "2");
  expect(shown).toMatch(
    /^version +2\nwhen +\S+\nby +owner\n\nedit a\.txt {2}\(\+1 -1\)\n@@ [^\n]+\n one\n-two\n\+2\n three\n$/,
  );
  expect(await run("versions", "show", to, "3")).toContain("add b.bin  (none -> 3 B)");
  expect((await runJson("versions", "show", to, "2")).diffs).toHaveLength(1);
  expect(await run("revert", to, "2", "--dry-run")).toBe("Would change ~a.txt.\n");
  await agent.putFile("a.txt", "one\nTWO\nthree\n");
  const conflicting = await run("revert", to, "2");
  expect(conflicting).toMatch(
    /^Reverted as version 5: ~a\.txt\.\n1 conflict in a\.txt:2 \(kept with conflict markers\)\.\n$/,
  );
  expect((await agent.file("a.txt")).text()).toContain("<<<<<<<");
  expect(await run("revert", to, "3")).toBe("Reverted as version 6: -b.bin.\n");
  expect(await run("revert", to, "3")).toBe("Nothing to revert: those changes are no longer present.\n");
  expect(await run("versions", to, "--limit", "1")).toContain("(reverts 3)");
});

test("a branch is created, changed, merged and deleted", async () => {
  const agent = await newAgent();
  const to = agent.name;
  await agent.putFile("a.txt", "one\n");
  expect(await run("branch", "ls", to)).toContain("no branches besides main");
  expect(await run("branch", "new", to, "try")).toBe("Created branch try from main at version 1.\n");
  await writeFile(join(folder, "a.txt"), "two\n");
  await run("files", "put", to, "a.txt", "--branch", "try");
  expect([await run("files", "get", to, "a.txt"), await run("files", "get", to, "a.txt", "--branch", "try")]).toEqual([
    "one\n",
    "two\n",
  ]);
  expect(await run("branch", "ls", to)).toMatch(
    /^NAME +FROM +CREATED +BY +UNMERGED +MERGED\ntry +main, version 1 +\S+ +owner +1 +-\n$/,
  );
  expect(await run("versions", to, "--branch", "try")).toContain("~a.txt");
  expect(await run("branch", "merge", to, "try", "--dry-run")).toBe("Would change ~a.txt.\n");
  expect(await run("branch", "merge", to, "try")).toBe("Merged try as version 3: ~a.txt.\n");
  expect(await run("branch", "merge", to, "try")).toBe("Already up to date: try has no unmerged changes.\n");
  expect(await run("files", "get", to, "a.txt")).toBe("two\n");
  expect(await runJson("branch", "new", to, "--at", "1")).toMatchObject({ id: "branch-1", at: 1 });
  expect(await run("files", "get", to, "a.txt", "--branch", "branch-1")).toBe("one\n");
  expect(await run("branch", "rm", to, "try", "--yes")).toBe("Deleted branch try.\n");
  expect((await runJson("branch", "ls", to)).branches).toHaveLength(1);
});

test("a terminal shows sanitized text and colored diffs, but no binary data", async () => {
  const agent = await newAgent();
  await agent.putFile("a.txt", "one\n\u001b[31mred\n");
  await agent.putFile("a.bin", new Uint8Array([0, 27, 91]));
  const shown = await thinkery(["files", "get", agent.name, "a.txt"], { isTTY: true });
  expect([shown.code, shown.stdout]).toEqual([0, "one\n\ufffd[31mred\n"]);
  expect(await run("files", "get", agent.name, "a.txt")).toBe("one\n\u001b[31mred\n");
  for (const args of [
    ["files", "get", agent.name, "a.bin"],
    ["files", "zip", agent.name, "-o", "-"],
  ]) {
    const { code, stdout, stderr } = await thinkery(args, { isTTY: true });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("Save it with -o");
  }
  await agent.putFile("a.txt", "two\n\u001b[31mred\n");
  const { stdout } = await thinkery(["versions", "show", agent.name, "3"], { isTTY: true });
  expect(stdout).toContain("\u001b[31m-one\u001b[39m\n\u001b[32m+two\u001b[39m\n \ufffd[31mred\n");
});
