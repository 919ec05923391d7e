import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { encodeFileTransfer } from "@thinkery/sdk/internal";
import { expect, test as always } from "vitest";
import { nobody } from "../../packages/daemon/src/host/isolation.ts";
import { findSandboxIssue } from "../../packages/daemon/src/host/linux/fixture.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { agent, openLinuxFixture } from "./fixture.ts";

const issue = await findSandboxIssue();
if (issue) console.warn(`These tests need a Linux sandbox. ${issue}`);
const test = always.skipIf(issue);

const getFolder = (home: { path: string }) => join(home.path, "linux/global/alice");
const getManifestPath = (home: { path: string }) => join(home.path, "linux/.beside", agent, "manifest.json");

test("a command sees the workspace, and its changes become one version", async () => {
  const { home, workspace, run, requests } = await openLinuxFixture();
  workspace.write({
    "a.txt": "a\n",
    "src/b.txt": "b\n",
    "src/gone.txt": "x\n",
    "bin/x.dat": Buffer.from([0, 255, 10]),
  });
  const result = await run(
    "cat a.txt src/b.txt; echo more >> a.txt; mkdir -p new/deep; echo c > new/deep/c.txt; rm src/gone.txt; printf '\\377\\0' > bytes",
  );
  expect(result).toMatchObject({ exitCode: 0, output: "a\nb\n", version: { id: 2 } });
  expect(result.notes).toBeUndefined();
  expect(workspace.getVersion()).toBe(2);
  expect(workspace.texts).toMatchObject({ "a.txt": "a\nmore\n", "src/b.txt": "b\n", "new/deep/c.txt": "c\n" });
  expect(workspace.now.has("src/gone.txt")).toBe(false);
  expect([...(workspace.now.get("bytes") ?? [])]).toEqual([255, 0]);
  // Without changes, neither contents nor file lists are sent.
  requests.length = 0;
  expect(await run("cat a.txt; ls")).toMatchObject({ output: "a\nmore\na.txt\nbin\nbytes\nnew\nsrc\n" });
  expect(workspace.getVersion()).toBe(2);
  expect(requests.map(({ path }) => path)).toEqual(["/linux/files/collect", "/linux/run", "/linux/files/collect"]);
  const { uid } = statSync(join(getFolder(home), "src/b.txt"));
  expect(uid).toBe(process.getuid?.() === 0 ? nobody : process.getuid?.());
});

test("a command's own changes are not sent back, and the file list is not sent", async () => {
  const { workspace, run, requests } = await openLinuxFixture();
  workspace.write(
    Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`d${index % 20}/f${index}`, `content ${index}`])),
  );
  await run("true");
  requests.length = 0;
  await run("echo new > d1/new");
  expect(requests.map(({ path }) => path)).toEqual([
    "/linux/files/collect",
    "/linux/run",
    "/linux/files/collect",
    "/linux/files/plan",
  ]);
  expect(requests.at(-1)?.bytes).toBeLessThan(200);
});

test("changes made by people during a command are kept on both sides", async () => {
  const { home, workspace, run } = await openLinuxFixture();
  workspace.write({ mine: "1", both: "1", gone: "1" });
  let isRunning = false;
  const end = run(
    "echo on; until [ -e go ]; do sleep 0.02; done; echo 2 > new; echo theirs > both",
    undefined,
    () => (isRunning = true),
  );
  await waitUntil("the command", () => isRunning);
  workspace.write({ mine: "2", both: "2", gone: undefined });
  writeFileSync(join(getFolder(home), "go"), "");
  const { notes } = await end;
  expect(notes?.join()).toContain("both");
  expect(workspace.texts).toMatchObject({ mine: "2", both: "2", "both.theirs": "theirs\n", new: "2\n" });
  expect((await run("cat mine both both.theirs; ls")).output).toBe("22theirs\nboth\nboth.theirs\ngo\nmine\nnew\n");
});

test("changes made between commands are collected before files are written", async () => {
  const { home, workspace, run } = await openLinuxFixture();
  workspace.write({ a: "1", b: "1" });
  await run("true");
  writeFileSync(join(getFolder(home), "a"), "from the sandbox");
  workspace.write({ a: "from a person", b: "2" });
  const { notes, output } = await run("cat a b a.theirs");
  expect(notes?.join()).toContain("“a”");
  expect(output).toBe("from a person2from the sandbox");
});

test("ignored files stay in the sandbox and are still there the next time", async () => {
  const { workspace, run } = await openLinuxFixture();
  workspace.write({ ".gitignore": "dist/\n*.log\n", "dist/known": "1" });
  await run(
    "mkdir -p node_modules/x .git dist; touch node_modules/x/y .git/HEAD dist/out a.log kept; echo 2 > dist/known",
  );
  expect(workspace.texts).toEqual({ ".gitignore": "dist/\n*.log\n", "dist/known": "2\n", kept: "" });
  workspace.write({ more: "m" });
  expect((await run("ls -A; ls dist")).output).toBe(
    ".git\n.gitignore\na.log\ndist\nkept\nmore\nnode_modules\nknown\nout\n",
  );
});

test("caches and histories of programs are not copied to the workspace", async () => {
  const { workspace, run } = await openLinuxFixture();
  await run(
    "mkdir -p .cache/x .npm src/__pycache__ src/.cache; touch .cache/x/y .npm/z src/__pycache__/m.pyc .bash_history src/.cache/kept .env",
  );
  expect(Object.keys(workspace.texts)).toEqual([".env", "src/.cache/kept"]);
  expect((await run("ls -A . .cache")).output).toContain("x");
});

test("an updated file stays executable", async () => {
  const { workspace, run } = await openLinuxFixture();
  await run("printf '#!/bin/sh\\necho one\\n' > tool; chmod +x tool");
  workspace.write({ tool: "#!/bin/sh\necho two\n" });
  expect((await run("./tool")).output).toBe("two\n");
});

test("links, pipes and invalid names are skipped, noted once, and never followed or taken for deletions", async () => {
  const { home, workspace, run } = await openLinuxFixture();
  workspace.write({ "etc/passwd": "mine", file: "mine", other: "mine", pipe: "mine" });
  const tricks =
    "rm -r etc file other pipe; ln -s /etc etc; ln -s /etc/passwd file; ln -s / root; mkfifo pipe other; touch $'a\\xff' 'end.' $'new\\nline'; mkdir CON; ln -s ../../../token up; echo fine > fine";
  const { notes = [] } = await run(tricks);
  for (const name of ["etc", "file", "root", "pipe", "other", "a\ufffd", "end.", "new\ufffdline", "CON", "up"])
    expect(notes.join("\n")).toContain(`“${name}”`);
  expect(workspace.texts).toEqual({ "etc/passwd": "mine", file: "mine", other: "mine", pipe: "mine", fine: "fine\n" });
  // Nothing is written through them.
  workspace.write({
    "etc/passwd": "evil",
    "etc/evil": "evil",
    file: "evil",
    pipe: "evil",
    "root/tmp/evil": "evil",
    up: "evil",
  });
  const before = readFileSync("/etc/passwd", "utf8");
  const next = await run("ls /etc/evil; cat file | head -c 4");
  expect(next.notes?.join("\n") ?? "").not.toContain("a\ufffd");
  expect(readFileSync("/etc/passwd", "utf8")).toBe(before);
  expect([existsSync("/etc/evil"), existsSync("/tmp/evil"), existsSync(join(home.path, "linux/global/token"))]).toEqual(
    [false, false, false],
  );
  expect(workspace.texts).toMatchObject({ "etc/passwd": "evil", file: "evil", pipe: "evil" });
});

test("a folder that is concurrently replaced by a link is never followed", async () => {
  const { workspace, run, tool } = await openLinuxFixture();
  const treasure = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`d/f${index}`, `${index}`]));
  workspace.write(treasure);
  await run("true");
  const { id } = await tool.start(
    "mkdir -p alt; echo fooled > alt/f1; while :; do mv d aside; ln -s alt d; rm d; mv aside d; done",
  );
  for (let round = 0; round < 15; round++) {
    workspace.write({ [`d/f${round}`]: `again ${round}` });
    await tool.read(id);
  }
  await tool.stop(id);
  await run("[ -d aside ] && rm -rf d && mv aside d; true");
  // Files behind the link were neither lost nor collected.
  expect(
    workspace.versions
      .flatMap((files) => [...files])
      .filter(([path, bytes]) => path === "d/f1" && bytes.toString().startsWith("fooled")),
  ).toEqual([]);
  for (let round = 0; round < 15; round++)
    expect(workspace.versions.some((files) => files.get(`d/f${round}`)?.toString() === `again ${round}`)).toBe(true);
});

test("files that are too large or too many stay in the sandbox, with a note", async () => {
  const { workspace, run } = await openLinuxFixture();
  workspace.maxFileBytes = 1024 * 1024;
  const large = await run("truncate -s 5M big; echo small > small");
  expect(large.notes).toEqual([
    "“big” stays in the sandbox and is not copied to the workspace: it is larger than 1 MB.",
  ]);
  expect(workspace.texts).toEqual({ small: "small\n" });
  expect((await run("stat -c %s big")).output).toBe(`${5 * 1024 * 1024}\n`);
  const many = await run("rm big; mkdir m; for i in $(seq 2001); do : > m/$i; done");
  expect(many.notes?.join()).toMatch(/More than 2000 files or 64 MB/);
  expect(workspace.texts).toEqual({ small: "small\n" });
  workspace.write({ other: "o" });
  expect((await run("rm m/1; ls m | wc -l")).output).toBe("2000\n");
  expect(workspace.now.size).toBe(2002);
  expect((await run("cat other")).output).toBe("o");
});

test("of files that differ only in case, the known one is kept and the other one noted", async () => {
  const { workspace, run } = await openLinuxFixture();
  workspace.write({ Makefile: "m", "src/a": "a" });
  const { notes } = await run("echo x > makefile; mkdir Src; echo x > Src/b; echo ok > ok");
  expect(notes).toEqual([
    expect.stringMatching(/“(makefile|Src\/b)”.*only in case/),
    expect.stringMatching(/“(makefile|Src\/b)”.*only in case/),
  ]);
  expect(Object.keys(workspace.texts)).toEqual(["Makefile", "ok", "src/a"]);
});

test("a background process has the files, and its changes are collected whenever it is read", async () => {
  const { workspace, tool } = await openLinuxFixture();
  workspace.write({ in: "in\n" });
  const { id } = await tool.start("cat in > out; until [ -e go ]; do sleep 0.02; done; echo done >> out; sleep 300");
  await waitUntil("its file", async () => {
    await tool.read(id);
    return workspace.texts.out === "in\n";
  });
  workspace.write({ go: "" });
  // Listing updates the files in the sandbox, too.
  await waitUntil("its next line", async () => {
    await tool.list();
    return workspace.texts.out === "in\ndone\n";
  });
  expect(await tool.stop(id)).toMatchObject({ state: "exited" });
});

test("the changes of a canceled command are kept", async () => {
  const { workspace, run } = await openLinuxFixture();
  const cancel = new AbortController();
  await expect(
    run("echo half > half; echo on; sleep 300", cancel.signal, () => cancel.abort(new Error("enough"))),
  ).rejects.toThrow();
  expect(workspace.texts).toEqual({ half: "half\n" });
  expect(await run("cat half")).toMatchObject({ output: "half\n" });
  expect(workspace.getVersion()).toBe(1);
});

test("a file that was just written is read again, because its times might not show a change", async () => {
  const { home, workspace, linux, run } = await openLinuxFixture();
  workspace.write({ a: "1" });
  const readEntry = () => JSON.parse(readFileSync(getManifestPath(home), "utf8")).files[0][1];
  const [file] = workspace.listFiles();
  await linux.workingCopy.plan({ version: 1, committed: "none", files: [["a", file?.hash as string]] });
  await linux.workingCopy.put(new Uint8Array(Buffer.concat([...encodeFileTransfer({ path: "a" }, Buffer.from("1"))])));
  expect(readEntry()).toEqual({ hash: file?.hash });
  await run("sleep 0.1");
  expect(readEntry()).toEqual({ hash: file?.hash, state: expect.objectContaining({ size: 1 }) });
});

test("a new daemon continues after a crash, with an intact, damaged or missing manifest", async () => {
  const first = await openLinuxFixture();
  const { home, workspace } = first;
  workspace.write({ a: "1", b: "1", c: "1" });
  await first.run("echo 2 > a");
  writeFileSync(join(getFolder(home), "b"), "from the sandbox");
  rmSync(join(getFolder(home), "c"));
  const second = await first.reopen();
  await second.run("true");
  expect(workspace.texts).toEqual({ a: "2\n", b: "from the sandbox" });
  for (const damage of [
    () => rmSync(getManifestPath(home)),
    () => writeFileSync(getManifestPath(home), readFileSync(getManifestPath(home)).subarray(0, 50)),
  ]) {
    damage();
    const version = workspace.getVersion();
    const next = await first.reopen();
    expect((await next.run("cat a b")).notes).toBeUndefined();
    expect(workspace.getVersion()).toBe(version);
  }
});

test("after a crash between two files, the daemon knows which ones were written", async () => {
  const first = await openLinuxFixture();
  const { home, workspace } = first;
  workspace.write({ a: "1", b: "1", gone: "1" });
  await first.run("true");
  workspace.write({ a: "2", b: "2", gone: undefined });
  // As after a crash when main has sent its plan and one file has been written.
  let collection = "";
  for await (const { header } of first.linux.workingCopy.collect(1000))
    collection = (header as { collection?: string }).collection ?? collection;
  expect(
    await first.linux.workingCopy.plan({
      version: 2,
      committed: collection,
      files: workspace.listFiles().map(({ path, hash }) => [path, hash]),
    }),
  ).toEqual(["a", "b"]);
  writeFileSync(join(getFolder(home), "a"), "2");
  mkdirSync(join(home.path, "linux/.beside", agent), { recursive: true });
  writeFileSync(join(home.path, "linux/.beside", agent, ".thinkery-0123456789ab.draft"), "half");
  workspace.write({ a: "3" });
  const second = await first.reopen();
  const { notes, output } = await second.run("cat a b; ls");
  expect([notes, output]).toEqual([undefined, "32a\nb\n"]);
  expect(workspace.getVersion()).toBe(3);
  expect(readdirSync(join(home.path, "linux/.beside", agent))).toEqual(["manifest.json"]);
});

test("changes that cannot be committed stay in the sandbox and are committed later", async () => {
  const { workspace, run } = await openLinuxFixture();
  workspace.write({ a: "1" });
  const rebaseEdits = workspace.rebaseEdits.bind(workspace);
  workspace.rebaseEdits = () => {
    throw new Error("secret");
  };
  const { notes } = await run("echo 2 > a; echo n > new");
  expect(notes?.join()).toContain("remain in the sandbox");
  expect(notes?.join()).not.toContain("secret");
  workspace.rebaseEdits = rebaseEdits;
  workspace.write({ b: "b" });
  expect((await run("cat a new b")).output).toBe("2\nn\nb");
  expect(workspace.texts).toEqual({ a: "2\n", b: "b", new: "n\n" });
});

test("on a full disk no files are written, but commands still run", async () => {
  let isFull = false;
  const { workspace, run } = await openLinuxFixture({ isFull: () => isFull });
  workspace.write({ a: "1" });
  await run("true");
  workspace.write({ b: "2" });
  isFull = true;
  const { notes, output } = await run("ls; rm a");
  expect(notes?.join()).toContain("disk is almost full");
  expect(output).toContain("a\n");
  isFull = false;
  expect((await run("ls")).output).toBe("b\n");
});

test("a client that disconnects during a collection releases the working copy", async () => {
  const { workspace, linux, run, sandbox } = await openLinuxFixture();
  await run("for i in 1 2 3; do head -c 5000000 /dev/urandom > f$i; done");
  await run("for i in 1 2 3; do head -c 5000000 /dev/urandom > f$i; done; true");
  // Once after the first piece, and once before it.
  for await (const _ of linux.workingCopy.collect(10_000_000)) break;
  const pieces = await (await sandbox.loadCopies()).collect(agent, 10_000_000);
  await pieces[Symbol.asyncIterator]().return?.();
  workspace.write({ x: "x" });
  expect((await run("cat x")).output).toBe("x");
});

test("deleting an agent removes its working copy and manifest", async () => {
  const { home, workspace, linux, tool, run } = await openLinuxFixture();
  workspace.write({ a: "1" });
  await run("true");
  await linux.forget();
  await waitUntil("the folders", () => !existsSync(join(home.path, "linux/.beside")) && !existsSync(getFolder(home)));
  // A command that is canceled by the deletion does not create the folders again.
  const canceled = tool.run("true", { signal: AbortSignal.abort(), onOutput() {} });
  await expect(canceled).rejects.toThrow();
  await linux.forget();
  for await (const _ of linux.workingCopy.collect(1000));
  expect([existsSync(join(home.path, "linux/.beside")), existsSync(getFolder(home))]).toEqual([false, false]);
  expect((await run("ls")).output).toBe("a\n");
});
