import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";
import type { ShellRequest } from "./shell-request.ts";

let worker: BareWorker;

beforeAll(async () => {
  worker = await startBareWorker(new URL("./shell.worker.ts", import.meta.url), { sandbox: "socket" });
});

afterAll(() => worker?.stop());

let lastId = 0;
const createId = () => `w${++lastId}`;

const run = async (body: ShellRequest): Promise<any> =>
  (await fetch(worker.url, { method: "POST", body: JSON.stringify({ id: createId(), ...body }) })).json();

const initialState = { cwd: "/work", env: {}, folders: [], scratch: [] };

describe("a command", () => {
  test("reads the workspace, and its writes are returned as changes", async () => {
    const result = await run({
      files: { "a.txt": "one\ntwo\n", "src/b.ts": "export {}\n", "old.txt": "x" },
      command:
        "cat a.txt | tr a-z A-Z | tee upper.txt; mv src/b.ts src/c.ts; rm old.txt; echo three >> a.txt; echo oops >&2; exit 7",
    });
    expect(result).toEqual({
      exitCode: 7,
      stdout: "ONE\nTWO\n",
      stderr: "oops\n",
      changes: [
        { delete: "old.txt" },
        { move: "src/b.ts", to: "src/c.ts" },
        { write: "a.txt", content: "one\ntwo\nthree\n" },
        { write: "upper.txt", content: "ONE\nTWO\n" },
      ],
      notes: [],
      state: initialState,
      requests: ["whole"],
    });
  });

  test("has no access to Node, the network or this machine", async () => {
    const { stdout, stderr, exitCode } = await run({
      command: "ls /; cat /etc/passwd /proc/self/environ; node -e 1; python3 -c 1; curl https://x.org; which curl wget",
    });
    expect(stdout).toBe("bin\ndev\ntmp\nusr\nwork\n");
    expect(stderr.split("\n").filter((line: string) => /No such file|command not found/.test(line))).toHaveLength(5);
    expect(exitCode).not.toBe(0);
  });

  test("sorts by code units, whatever the isolate's locale", async () => {
    const files = { "B.txt": "b\nA\na\nB\n", "a.txt": "", "_/x": "", "C/x": "" };
    const { stdout } = await run({
      files,
      command: "sort B.txt | tr '\\n' ' '; find . -name '*x*' | tr '\\n' ' '; ls -R | grep : | tr '\\n' ' '",
    });
    expect(stdout).toBe("A B a b ./B.txt ./C/x ./_/x ./a.txt .: ./C: ./_: ");
  });

  test("compresses and decompresses without changing bytes", async () => {
    const png = btoa("\x89PNG\r\n\x1a\n\x00\xff");
    const { changes, stdout } = await run({
      files: { "a.png": { base64: png } },
      command:
        "cp a.png b.png; cat a.png > c.png; gzip -c a.png | gunzip > d.png; cat a.png | base64; gzip -k a.png; zcat a.png.gz | cmp - a.png 2>/dev/null; wc -c < a.png",
    });
    expect(changes.slice(0, 3)).toEqual(
      ["b.png", "c.png", "d.png"].map((write) => ({ write, content: { base64: png } })),
    );
    expect(stdout).toContain(`${png}\n`);
    expect(stdout.trim().endsWith("10")).toBe(true);
  });

  test("leaves its folder, exported variables, /tmp and empty folders to the next command", async () => {
    const first = await run({
      command: "mkdir -p a/b/c && cd a/b && export NAME='Ada L.' && hidden=1 && echo scratch > /tmp/s.txt",
    });
    expect(first.state).toEqual({
      cwd: "/work/a/b",
      env: { NAME: "Ada L." },
      folders: ["a/b/c"],
      scratch: [["s.txt", "scratch\n"]],
    });
    expect(first.notes).toEqual(["A workspace cannot store empty folders; kept for the rest of the turn only: a/b/c."]);
    const second = await run({
      command: 'pwd; ls; echo "$NAME$hidden"; cat /tmp/s.txt; env | grep ^NAME',
      state: first.state,
    });
    expect(second).toMatchObject({
      exitCode: 0,
      stdout: "/work/a/b\nc\nAda L.\nscratch\nNAME=Ada L.\n",
      changes: [],
      notes: [],
      state: first.state,
    });
  });

  test("that loops is ended by its limits, one that sleeps by its timeout", async () => {
    expect(
      await run({ command: "echo before > f; while true; do x=1; done", limits: { commands: 1_000_000, loops: 5000 } }),
    ).toMatchObject({
      exitCode: 126,
      stderr: "bash: while loop: too many iterations (5000)\n",
      changes: [{ write: "f" }],
    });
    expect(await run({ command: "while true; do :; done", limits: { commands: 1000 } })).toMatchObject({
      exitCode: 126,
      stderr: "bash: too many commands executed (>1000)\n",
    });
    expect(await run({ command: "echo a > f; echo seen; sleep 60; echo b > f", timeoutMs: 1000 })).toMatchObject({
      exitCode: 124,
      stdout: "seen\n",
      changes: [{ write: "f", content: "a\n" }],
      notes: ["The command did not finish within 1 s and was stopped."],
    });
  });

  test("that writes too much changes nothing", async () => {
    const { errorCode, message } = await run({
      command:
        "echo on it; seq 1 80000 > a; for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; do cat a a a > b$n; done",
    });
    expect([errorCode, message]).toEqual([
      "limit",
      "The command's changes were discarded. It wrote more than 24 MB.\n\non it",
    ]);
  });

  test("concurrent commands and other agents do not see each other's files", async () => {
    const id = createId();
    const files = { "n.txt": "start\n" };
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        run({ id, files, command: `echo ${n} >> n.txt; sleep 0.0${n % 5}; cat n.txt; ls` }),
      ),
    );
    expect(results.map(({ stdout }) => stdout)).toEqual(results.map((_, n) => `start\n${n}\nn.txt\n`));
    // Even with the same workspace id.
    for (const name of ["ada", "bob"])
      expect(
        (await run({ agent: `global~${name}`, id: "same", files: { [`${name}.txt`]: "" }, command: "ls" })).stdout,
      ).toBe(`${name}.txt\n`);
  });
});

describe("a view", () => {
  test("is sent once, then only its changes, and again in full if the sandbox has an unrelated version", async () => {
    const id = createId();
    const files = { "a.txt": "1", "d/b.txt": "1", "d/c.txt": "1" };
    const look = "grep -r . . | sort; ls";
    expect((await run({ id, files, version: 1, command: look })).requests).toEqual(["whole"]);
    expect(await run({ id, files, version: 1, command: look })).toMatchObject({
      requests: [],
      stdout: "a.txt:1\nd/b.txt:1\nd/c.txt:1\na.txt\nd\n",
    });
    const since = { 1: { files: { "a.txt": "2", "e/n.txt": "2" }, gone: ["d/b.txt", "d/c.txt"] } };
    expect(await run({ id, files, version: 2, since, command: look })).toMatchObject({
      requests: ["since 1"],
      stdout: "a.txt:2\ne/n.txt:2\na.txt\ne\n",
    });
    // The changes in between are unknown.
    expect(await run({ id, files: { "z.txt": "9" }, version: 9, command: look })).toMatchObject({
      requests: ["since 2", "whole"],
      stdout: "z.txt:9\nz.txt\n",
    });
  });

  test("that the sandbox has evicted is sent again", async () => {
    const id = createId();
    const files = { "a.txt": "kept" };
    await run({ id, files, command: "cat a.txt" });
    for (let n = 0; n < 4; n++) await run({ files: { [`${n}.txt`]: "" }, command: "ls" });
    expect(await run({ id, files, command: "cat a.txt" })).toMatchObject({ requests: ["whole"], stdout: "kept" });
  });

  test("does not contain uncommitted changes of an earlier command", async () => {
    const id = createId();
    await run({ id, files: { "a.txt": "1" }, command: "rm a.txt; echo 2 > b.txt" });
    expect((await run({ id, files: { "a.txt": "1" }, command: "ls" })).stdout).toBe("a.txt\n");
  });

  test("contains only the size of large files, and their content is requested once", async () => {
    const id = createId();
    const files = { "big.txt": { far: "far away\n" }, "other.txt": { far: "unread" } };
    expect(await run({ id, files, command: "stat -c %s big.txt; cat big.txt; grep -c away big.txt" })).toMatchObject({
      stdout: "9\nfar away\n1\n",
      requests: ["whole", "read big.txt"],
      changes: [],
    });
    expect(await run({ id, files, command: "cat big.txt; mv other.txt moved.txt" })).toMatchObject({
      stdout: "far away\n",
      requests: [],
      changes: [{ move: "other.txt", to: "moved.txt" }],
    });
    expect(await run({ id, files, command: "cp other.txt copy.txt" })).toMatchObject({
      requests: ["read other.txt"],
      changes: [{ write: "copy.txt", content: "unread" }],
    });
  });
});

describe("the network", () => {
  test("is available if main allows it, and only through main", async () => {
    const { stdout, requests } = await run({
      network: true,
      command:
        "curl -s https://x.org/a -H 'x-own: 1' | tr a-z A-Z; curl -s https://x.org/binary > b.bin; wc -c < b.bin",
    });
    expect(stdout).toBe("GRüßE\n3\n");
    expect(requests.slice(1).map((line: string) => JSON.parse(line.slice(6)).url)).toEqual([
      "https://x.org/a",
      "https://x.org/binary",
    ]);
    expect(JSON.parse(requests[1].slice(6)).headers["x-own"]).toBe("1");
  });

  test("redirects are requested separately, without the first host's credentials", async () => {
    const { requests } = await run({
      network: true,
      command: "curl -sL -u me:secret -H 'Cookie: mine' https://x.org/elsewhere",
    });
    const [first, second] = requests.slice(1).map((line: string) => JSON.parse(line.slice(6)));
    expect(first.headers.authorization).toMatch(/^Basic /);
    expect(first.headers.cookie).toBe("mine");
    expect([second.url, second.headers.authorization, second.headers.cookie]).toEqual([
      "https://other.org/there",
      undefined,
      undefined,
    ]);
  });

  test("a request that main denies fails", async () => {
    const { exitCode, stderr } = await run({ network: true, command: "curl -sS https://x.org/denied" });
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain("No policy rule allows");
  });
});

describe("a search", () => {
  const files = {
    "a.ts": "const needle = 1;\nno\r\nneedle again\n",
    "src/b.ts": `${"x".repeat(2000)}NEEDLE${"y".repeat(2000)}\n`,
    "bin.dat": { base64: btoa("\0needle") },
    "far.txt": { far: "a far needle" },
    "far.png": { far: "needle", binary: true },
  };

  test("finds lines with their positions, also in files that were not sent", async () => {
    const { found, more, requests } = await run({ files, search: { pattern: "needle", limit: 10 } });
    expect(found).toEqual([
      { path: "a.ts", line: 1, text: "const needle = 1;" },
      { path: "a.ts", line: 3, text: "needle again" },
      { path: "far.txt", line: 1, text: "a far needle" },
    ]);
    expect([more, requests]).toEqual([false, ["whole", "read far.txt"]]);
  });

  test.each([
    ["pattern, ignoring case", { pattern: "needle", ignoreCase: true, under: "src" }, ["src/b.ts:1"]],
    ["file name", { pattern: "e", glob: "*.ts" }, ["a.ts:1", "a.ts:3"]],
    ["path glob", { pattern: "NEEDLE", glob: "src/**/*.{ts,js}" }, ["src/b.ts:1"]],
    ["single file", { pattern: "needle", under: "/work/a.ts".slice(6) }, ["a.ts:1", "a.ts:3"]],
    ["line anchors", { pattern: "^no$" }, ["a.ts:2"]],
    ["negative lookahead", { pattern: "no(?!\\s)" }, ["a.ts:2"]],
    ["pattern without matches", { pattern: "nowhere" }, []],
  ])("by %s", async (_, options, places) => {
    const { found } = await run({ files, search: { limit: 10, ...options } });
    expect(found.map(({ path, line }: { path: string; line: number }) => `${path}:${line}`)).toEqual(places);
  });

  test("shows context lines, each once", async () => {
    const { found, more } = await run({
      files: { "a.txt": "1\n2\nx3\n4\n5\nx6\nx7\n8\n9\n" },
      search: { pattern: "x", context: 2, limit: 3 },
    });
    expect([found.map(({ text, near }: { text: string; near?: boolean }) => (near ? `-${text}` : text)), more]).toEqual(
      [["-1", "-2", "x3", "-4", "-5", "x6", "x7", "-8", "-9"], false],
    );
    expect(
      await run({ files: { "a.txt": "1\nx2\nx3\n4\n" }, search: { pattern: "x", context: 1, limit: 1 } }),
    ).toMatchObject({ found: [{ line: 1, near: true }, { line: 2 }, { line: 3, near: true }], more: true });
  });

  test("matches each line separately, even with patterns that could match across lines", async () => {
    const text = `${"abc def 0123456789 ".repeat(5)}\n`.repeat(10_000);
    expect((await run({ files: { "a.txt": text }, search: { pattern: "[^x]*y", limit: 5 } })).found).toEqual([]);
  });

  test("is limited, and long lines are shortened around the match", async () => {
    expect(await run({ files, search: { pattern: "needle", limit: 1 } })).toMatchObject({
      found: [{ line: 1 }],
      more: true,
    });
    const [{ text }] = (await run({ files, search: { pattern: "NEEDLE", limit: 5 } })).found;
    expect(text).toMatch(/^…x+NEEDLEy+…$/);
    expect(text).toHaveLength(502);
  });

  test("reports an invalid pattern as a syntax error", async () => {
    expect(await run({ files, search: { pattern: "a(", limit: 5 } })).toMatchObject({
      errorCode: "syntax",
      message: expect.stringContaining("Unterminated group"),
    });
  });
});

test("code uses the shell of the sandbox it runs in", async () => {
  const { value } = await run({
    files: { "a.txt": "needle\n" },
    code: "const { stdout, changes } = await tools.bash({ command: 'cat a.txt; echo 1 > b' }); const { found } = await tools.grep({ pattern: 'needle' }); return { stdout, changes, found }",
  });
  expect(JSON.parse(value)).toEqual({
    stdout: "needle\n",
    changes: [{ write: "b", content: "1\n" }],
    found: [{ path: "a.txt", line: 1, text: "needle" }],
  });
});
