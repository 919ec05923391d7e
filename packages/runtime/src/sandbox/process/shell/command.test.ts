import { beforeAll, describe, expect, test } from "vitest";
import type { ViewFile } from "../../shell.ts";
import { type Bundle, openBundle } from "./shell.fixture.ts";

let bundle: Bundle;

beforeAll(async () => {
  bundle = await openBundle();
});

const files: ViewFile[] = [
  ["a.txt", "pear\napple\n"],
  ["src/one.ts", "export const one = 1;\n"],
  ["src/two.ts", "export const two = 2;\n"],
  ["data.json", '{"name":"Ada","tags":["x","y"]}'],
  ["ünï/文件 1.txt", "Grüße\n"],
];

describe("common bash features", () => {
  test.each([
    ["pipes", "cat a.txt | sort | head -1", "apple\n"],
    [
      "redirections",
      "sort a.txt > s; cat < s; wc -l < s; echo e 2>&1 >/dev/null; ls no 2>/dev/null || echo none",
      "apple\npear\n2\nnone\n",
    ],
    ["appending", "echo plum >> a.txt; tail -1 a.txt", "plum\n"],
    [
      "here-documents",
      "cat <<EOF\n  $((6 * 7)) $HOME\nEOF\ncat <<'EOF'\n$HOME\nEOF\ncat <<-EOF\n\ttabbed\n\tEOF",
      "  42 /work\n$HOME\ntabbed\n",
    ],
    [
      "globs",
      "echo src/*.ts; echo src/{one,two}.ts; echo *.none; shopt -s globstar; echo **/*.ts",
      "src/one.ts src/two.ts\nsrc/one.ts src/two.ts\n*.none\nsrc/one.ts src/two.ts\n",
    ],
    [
      "loops and tests",
      "for f in src/*.ts; do [[ -f $f ]] && basename $f .ts; done; i=0; while ((i < 3)); do ((i++)); done; echo $i",
      "one\ntwo\n3\n",
    ],
    [
      "functions and substitution",
      'f() { local x=$1; echo "<$x>"; }; y=$(f "a b"); echo "$y ${y:1:1} ${#y} ${y/a/b}"',
      "<a b> a 5 <b b>\n",
    ],
    ["background jobs", "sleep 0.01 & wait; echo over", "over\n"],
    ["groups and subshells", "(cd src; ls | wc -l); pwd; { echo a; echo b; } | tac", "2\n/work\nb\na\n"],
    ["exit codes", "false; echo $?; true | false; echo $?; set -o pipefail; false | true; echo $?", "1\n1\n1\n"],
    [
      "Unicode file names",
      "cat ünï/*; ls ünï; find . -name '文*'; echo x > 'ä ö.txt'; ls 'ä ö.txt'",
      "Grüße\n文件 1.txt\n./ünï/文件 1.txt\nä ö.txt\n",
    ],
    ["equivalent Unicode spellings", "cat u\u0308ni\u0308/*", "Grüße\n"],
    [
      "jq, sed, awk",
      "jq -r .tags[1] data.json; sed -n s/ear/ier/p a.txt; awk '{ n += length($1) } END { print n }' a.txt",
      "y\npier\n9\n",
    ],
    ["find and xargs", "find src -name '*.ts' | sort | xargs grep -h const | wc -l; grep -rl two .", "2\nsrc/two.ts\n"],
    ["scripts", "printf '#!/bin/bash\\necho [$1]\\n' > s.sh; ./s.sh x; bash s.sh y", "[x]\n[y]\n"],
    ["process substitution", "diff <(echo a) <(echo a) && echo same", "same\n"],
    ["compression", "gzip -c a.txt | zcat | sort | head -1; base64 a.txt | base64 -d | wc -c", "apple\n11\n"],
  ])("%s", async (_, command, stdout) => {
    expect(await bundle.run(command, { files })).toMatchObject({ stdout, stderr: "" });
  });

  test("a syntax error is reported, and nothing is run", async () => {
    expect(await bundle.run("echo 1 > x; if then", { files })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("syntax error"),
      changes: [],
    });
  });

  test("missing programs are reported as not found", async () => {
    const { stderr, exitCode } = await bundle.run(
      "yes | head -3; python3 x; node x; sqlite3 x; tar cf x .; git status; sudo ls",
    );
    expect(stderr.match(/command not found/g)).toHaveLength(7);
    expect([stderr.includes("browser"), exitCode]).toEqual([false, 127]);
  });
});

describe("there is no way out of the workspace", () => {
  test.each([
    "cat /etc/passwd",
    "cat ../../../../etc/passwd",
    "cat /work/../../etc/shadow",
    "ln -s /etc/passwd l; cat l",
    "ln -s / root; cat root/etc/hostname",
    "ln -s ../../../.. up; cat up/etc/passwd",
    "cat /proc/self/environ",
    "cat /proc/1/cmdline",
    "cat /dev/mem",
    "cat /dev/sda",
    "ls /root",
    "ls /home",
    "cat ~root/.ssh/id_rsa",
    "cat < /etc/passwd",
    "source /etc/profile",
    "cat file:///etc/passwd",
    "cat 'C:\\Windows\\win.ini'",
    "cat $'/etc/passwd\\0.txt'",
    "echo x > /dev/tcp/127.0.0.1/80",
    "exec 3<>/dev/tcp/127.0.0.1/80; cat <&3",
    "awk 'BEGIN { while ((getline line < \"/etc/passwd\") > 0) print line }'",
    "sed -n 'r /etc/passwd' a.txt",
    "jq -n 'env.PATH, input_filename, $ENV.HOME' | grep /root",
    "find / -name passwd",
    "cd /; cd ..; cd ../..; ls etc",
    "curl http://127.0.0.1/",
    "wget http://127.0.0.1/",
    "env | grep -i 'token\\|secret\\|thinkery'",
  ])("%s", async (command) => {
    const { stdout, changes } = await bundle.run(command, { files });
    expect(stdout).toBe("");
    expect(changes).toEqual([]);
  });

  test("names of object properties are ordinary names", async () => {
    const { changes, stdout } = await bundle.run(
      "mkdir __proto__; echo 1 > __proto__/x; echo 2 > constructor; export __proto__=3 toString=4; ls; echo $__proto__ $toString",
    );
    expect(changes).toHaveLength(2);
    expect(changes).toEqual(
      expect.arrayContaining([
        { write: "constructor", content: "2\n" },
        { write: "__proto__/x", content: "1\n" },
      ]),
    );
    expect(stdout).toBe("__proto__\nconstructor\n3 4\n");
  });

  test("removing everything only returns changes", async () => {
    const { changes } = await bundle.run("rm -rf / /* ~/* 2>/dev/null", { files });
    expect(changes).toHaveLength(files.length);
    expect((await bundle.run("ls", { files })).stdout).toBe("a.txt\ndata.json\nsrc\nünï\n");
  });
});

describe("every runaway command ends", () => {
  test.each([
    ["a loop", "while :; do x=1; done", { commands: 1_000_000, loops: 10_000 }],
    ["a loop without a body", "for ((;;)); do :; done", {}],
    ["a recursion", "f() { f; }; f", {}],
    ["a pair of functions", "a() { b; }; b() { a; }; a", {}],
    ["a shell in a shell in a shell", "echo 'bash s' > s; bash s", {}],
    ["a script that reads itself", "echo '. ./s' > s; . ./s", {}],
    ["an evaluation of itself", 'x=\'eval "$x"\'; eval "$x"', {}],
    ["a fork bomb", ":() { : | : & }; :", {}],
    ["a loop in awk", "awk 'BEGIN { while (1) n++ }'", {}],
    ["a loop in sed", "echo a | sed ':x; bx'", {}],
    ["a loop in jq", "jq -n 'last(range(1e9))'", {}],
    ["a long sequence", "seq 1 100000000", {}],
    ["a string that doubles", "x=x; for i in {1..60}; do x=$x$x; done", {}],
    ["a file that doubles", "echo x > f; for i in {1..60}; do cat f f > g || break; mv g f; done", {}],
    ["a printed width", "printf '%1000000000s' x", {}],
    ["a row of commands", "for i in {1..2000}; do echo; done", { commands: 1000 }],
  ])("%s", async (_, command, limits) => {
    const { exitCode, stderr, stdout } = await bundle.run(command, { limits, files: [] });
    expect([exitCode, stderr]).not.toEqual([0, ""]);
    expect(stdout.length).toBeLessThan(200_000);
  });

  test("long output keeps its beginning and end", async () => {
    const { stdout } = await bundle.run("seq 1 50000", { limits: { outputBytes: 1000 } });
    expect(stdout).toMatch(/^1\n2\n[^]*\n… \d+ characters omitted …\n[^]*50000\n$/);
    expect(stdout.length).toBeLessThan(1100);
  });

  test("/tmp keeps a megabyte, and a note lists the rest", async () => {
    const { state, notes } = await bundle.run(
      "echo small > /tmp/z; seq 1 99999 > /tmp/a; cat /tmp/a /tmp/a > /tmp/b; mkdir /tmp/d; echo 1 > /tmp/d/x",
    );
    expect(state.scratch.map(([path]) => path)).toEqual(["a", "d/x", "z"]);
    expect(notes).toEqual(["/tmp keeps at most 1 MB between commands; dropped: /tmp/b."]);
  });
});

describe("limits", () => {
  test("the depth of nested folders is limited", async () => {
    const { stderr, changes } = await bundle.run(
      `mkdir -p ${"a/".repeat(2000)}; echo x > ${"b".repeat(5000)}; mkdir -p ${"a/".repeat(200)} && echo x > ${"a/".repeat(200)}f`,
    );
    expect(stderr.match(/ENAMETOOLONG|name too long/gi)?.length).toBeGreaterThanOrEqual(2);
    expect(changes).toEqual([{ write: `${"a/".repeat(200)}f`, content: "x\n" }]);
  });

  test("a failing statement does not stop the ones around it", async () => {
    const long = "b".repeat(5000);
    expect(
      await bundle.run(
        `echo 1; echo 2 > ${long}; echo $?; f() { echo 3 > ${long} || echo no; }; f; for i in 1; do echo 4 > ${long}; done; echo 5 > x`,
      ),
    ).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^1\n1\n/),
      changes: [{ write: "x", content: "5\n" }],
    });
    const full = await bundle.run("seq 1 50000 > a; for i in {1..7}; do cat a a > b; mv b a; done", {
      limits: { timeoutMs: 60_000 },
    });
    expect(full.stderr).toMatch(/ENOSPC|output size exceeded|limit/);
  });

  test("variables that are too large are dropped, and the others persist", async () => {
    const { state, notes } = await bundle.run("export BIG=$(seq 1 60000) SMALL=1 ALSO=$(seq 1 1000)");
    expect(Object.keys(state.env).sort()).toEqual(["ALSO", "SMALL"]);
    expect(notes).toEqual(["Exported variables persist up to 256 KB in total; dropped: BIG."]);
  });
});

describe("the state after a command", () => {
  test.each([
    ["exit", "cd src; export A=1; exit 4", 4],
    ["an error", "cd src; export A=1; set -e; false; export A=2", 1],
    ["an unset variable", "cd src; export A=1; set -u; echo $no; export A=2", 1],
    ["a syntax error later", "cd src; export A=1; eval 'if'", 1],
    ["the end", "cd src; export A=1; (cd /tmp; export A=3); bash -c 'cd /; export B=5'; false", 1],
  ])("is that at %s", async (_, command, exitCode) => {
    const outcome = await bundle.run(command, { files });
    expect([outcome.exitCode, outcome.state.cwd, outcome.state.env]).toEqual([exitCode, "/work/src", { A: "1" }]);
  });

  test("reflects unset and changed variables", async () => {
    const state = { cwd: "/work/src", env: { A: "1", B: "2", PATH: "/work/bin:/bin" } };
    expect((await bundle.run("unset A; B=3; hidden=4; export -n nothing", { files, state })).state).toMatchObject({
      cwd: "/work/src",
      env: { B: "3", PATH: "/work/bin:/bin" },
    });
  });

  test("a working folder that is gone is replaced by the workspace root", async () => {
    expect(await bundle.run("pwd; ls", { files, state: { cwd: "/work/gone" } })).toMatchObject({
      stdout: "/work\na.txt\ndata.json\nsrc\nünï\n",
      state: { cwd: "/work" },
    });
    expect((await bundle.run("mkdir d; cd d; rm -r ../d", { files })).state.cwd).toBe("/work");
  });

  test("what a workspace cannot store is noted once", async () => {
    const first = await bundle.run("ln -s a.txt l; chmod +x a.txt; mkdir empty; echo x > /etc/x; ln a.txt hard", {
      files,
    });
    expect(first.notes).toEqual([
      "A workspace cannot store symbolic links; dropped: l.",
      "A workspace cannot store empty folders; kept for the rest of the turn only: empty.",
      "A workspace cannot store file modes; dropped: a.txt. Files that start with #! are always executable.",
      "Only /work is kept, and /tmp for the rest of the turn; dropped: /etc/x.",
    ]);
    expect(first.changes).toEqual([{ write: "hard", content: "pear\napple\n" }]);
    expect((await bundle.run("ls -d empty", { files, state: first.state })).notes).toEqual([]);
  });
});
