import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { copyBuildForTest } from "../kit/build-copy.ts";
import { createHomePath, removeHome, runCli } from "../kit/host-process.ts";
import { findHomeProcesses } from "../kit/processes.ts";
import { snapshotFolder } from "../kit/snapshot.ts";

// Errors on start: each prints one sentence, exits with the right code, and changes nothing.

let home: string;

beforeEach(async () => {
  home = await createHomePath();
  onTestFinished(async () => {
    await chmod(dirname(home), 0o700);
    await runCli(["stop"], home);
    await removeHome(home);
  });
});

const startCommands = [["start"], ["start", "--foreground"], ["ls"]];

/** Expects one sentence on stderr and that no process is left. */
async function expectError(args: string[], code: number, sentence: RegExp, program?: string): Promise<void> {
  const result = await runCli(args, home, program ? { program } : {});
  expect([args, result.code, result.stdout]).toEqual([args, code, ""]);
  const message = result.stderr.replace("No host is running; starting one.\n", "");
  expect(message).toMatch(/^thinkery: [^\n]+\n$/);
  expect(message).toMatch(sentence);
  expect(findHomeProcesses(home)).toEqual([]);
  expect(existsSync(join(home, "daemon.json"))).toBe(false);
}

test("a start fails if the port is in use", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await new Promise((resolve) => other.once("listening", resolve));
  const { port } = other.address() as AddressInfo;
  for (const args of [["start"], ["start", "--foreground"]]) {
    await expectError([...args, "--port", String(port)], 1, new RegExp(`Port ${port} is already in use`));
  }
});

test("a start fails if the data folder is a file", async () => {
  await writeFile(home, "mine");
  for (const args of startCommands) await expectError(args, 3, /is not a folder.*\. Set THINKERY_HOME/);
  expect(await readFile(home, "utf8")).toBe("mine");
});

test("a start fails if the user cannot create the data folder or write to it", async (context) => {
  const user = process.getuid?.() === 0 ? 65_534 : undefined;
  const program = await copyBuildForTest();
  await chmod(dirname(dirname(program)), 0o755);
  // Root ignores permissions, and another user may not be able to run Node.
  if ((await runCli(["--version"], home, { program, user, cwd: "/" })).code !== 0)
    context.skip("no other user can run Node here");
  await chmod(dirname(home), 0o555);
  const expectErrors = async () => {
    for (const args of startCommands) {
      const { code, stdout, stderr } = await runCli(args, home, { program, user });
      expect([args, code, stdout]).toEqual([args, 3, ""]);
      expect(stderr).toMatch(
        /^(No host is running; starting one\.\n)?thinkery: [^\n]+ [sS]et THINKERY_HOME to [^\n]+\.\n$/,
      );
    }
  };
  await expectErrors();
  expect(existsSync(home)).toBe(false);
  if (user === undefined) return;
  await mkdir(home, { mode: 0o755 });
  await expectErrors();
  expect(await snapshotFolder(home)).toEqual({});
});

test("a data folder of a newer version is left unchanged, byte for byte", async () => {
  await mkdir(join(home, "objects"), { recursive: true });
  await writeFile(join(home, "format.json"), '{"format": 99}');
  await writeFile(join(home, "objects", "from-the-future"), Buffer.from([0, 255, 7]));
  const before = await snapshotFolder(home);
  for (const args of [...startCommands, ["restart"]])
    await expectError(args, 3, /newer Thinkery\. Update this installation/);
  for (const args of [["status"], ["stop"], ["doctor"]]) await runCli(args, home);
  expect(await snapshotFolder(home)).toEqual(before);
});

test("a damaged daemon.json is ignored", async () => {
  await mkdir(home, { mode: 0o700 });
  for (const text of ["", "{", "[]", '{"pid":1,"host":"127.0.0.1","port":1,"startedAt":"","version":""}', "\0\0"]) {
    await writeFile(join(home, "daemon.json"), text);
    expect([text, (await runCli(["status"], home)).code]).toEqual([text, 3]);
  }
  expect((await runCli(["start"], home)).code).toBe(0);
  expect(JSON.parse(await readFile(join(home, "daemon.json"), "utf8")).pid).toBeGreaterThan(1);

  await writeFile(join(home, "daemon.json"), "{");
  expect((await runCli(["ls"], home)).stderr).toBe("");
  expect((await runCli(["stop"], home)).stdout).toBe("Thinkery has stopped.\n");
  expect(findHomeProcesses(home)).toEqual([]);
});

test("an invalid configuration is reported with key and line, and left unchanged", async () => {
  await mkdir(home, { mode: 0o700 });
  const file = join(home, "config.jsonc");
  const mistakes: [text: string, sentence: RegExp][] = [
    ['{\n  // mine\n  "prot": 6000\n}', /config\.jsonc, line 3, column 3: unknown key “prot”; did you mean “port”\?/],
    ['{\n  "sandboxSlots": "two"\n}', /config\.jsonc, line 2, column 19: invalid value for “sandboxSlots”/],
    ['{\n  "port": 6000\n  "host": "::1"\n}', /config\.jsonc, line 3, column 3: invalid JSON/],
  ];
  for (const [text, sentence] of mistakes) {
    await writeFile(file, text);
    for (const args of startCommands) await expectError(args, 2, sentence);
    expect(await readFile(file, "utf8")).toBe(text);
  }
});

test("a start fails if the workerd binary is missing", async () => {
  const program = await copyBuildForTest({ workerd: false });
  for (const args of startCommands)
    await expectError(args, 3, /The workerd binary .* is missing .*\. Run npm install/, program);
  const { code, stdout } = await runCli(["doctor"], home, { program });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^fail {2}workerd: /m);
});

test("a start fails if the build is incomplete", async () => {
  const program = await copyBuildForTest();
  await writeFile(join(program, "..", "build.json"), "");
  await expectError(["start", "--foreground"], 3, /is incomplete\. Run npm run build/, program);
});
