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

describe("bash as it is known", () => {
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
      "names in every alphabet",
      "cat ünï/*; ls ünï; find . -name '文*'; echo x > 'ä ö.txt'; ls 'ä ö.txt'",
      "Grüße\n文件 1.txt\n./ünï/文件 1.txt\nä ö.txt\n",
    ],
    ["two spellings of a letter", "cat u\u0308ni\u0308/*", "Grüße\n"],
    [
      "jq, sed, awk",
      "jq -r .tags[1] data.json; sed -n s/ear/ier/p a.txt; awk '{ n += length($1) } END { print n }' a.txt",
      "y\npier\n9\n",
    ],
    ["find and xargs", "find src -name '*.ts' | sort | xargs grep -h const | wc -l; grep -rl two .", "2\nsrc/two.ts\n"],
    ["scripts", "printf '#!/bin/bash\\necho [$1]\\n' > s.sh; ./s.sh x; bash s.sh y", "[x]\n[y]\n"],
    ["process substitution", "diff <(echo a) <(echo a) && echo same", "same\n"],
    ["packing", "gzip -c a.txt | zcat | sort | head -1; base64 a.txt | base64 -d | wc -c", "apple\n11\n"],
  ])("%s", async (_, command, stdout) => {
    expect(await bundle.run(command, { files })).toMatchObject({ stdout, stderr: "" });
  });

  test("a syntax error is told, and nothing is done", async () => {
    expect(await bundle.run("echo 1 > x; if then", { files })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("syntax error"),
      changes: [],
    });
  });

  test("what there is not says so", async () => {
    const { stderr, exitCode } = await bundle.run(
      "yes | head -3; python3 x; node x; sqlite3 x; tar cf x .; git status; sudo ls",
    );
    expect(stderr.match(/command not found/g)).toHaveLength(7);
    expect([stderr.includes("browser"), exitCode]).toEqual([false, 127]);
  });
});

describe("there is no way out of it", () => {
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

  test("names of an object's own parts are names like others", async () => {
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

  test("even removing everything is only told", async () => {
    const { changes } = await bundle.run("rm -rf / /* ~/* 2>/dev/null", { files });
    expect(changes).toHaveLength(files.length);
    expect((await bundle.run("ls", { files })).stdout).toBe("a.txt\ndata.json\nsrc\nünï\n");
  });
});

describe("there is an end to everything", () => {
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

  test("of a long output the beginning and the end are told", async () => {
    const { stdout } = await bundle.run("seq 1 50000", { limits: { outputBytes: 1000 } });
    expect(stdout).toMatch(/^1\n2\n[^]*\n… \d+ characters were left out here …\n[^]*50000\n$/);
    expect(stdout.length).toBeLessThan(1100);
  });

  test("of /tmp a megabyte is kept, the rest is told of", async () => {
    const { state, notes } = await bundle.run(
      "echo small > /tmp/z; seq 1 99999 > /tmp/a; cat /tmp/a /tmp/a > /tmp/b; mkdir /tmp/d; echo 1 > /tmp/d/x",
    );
    expect(state.scratch.map(([path]) => path)).toEqual(["a", "d/x", "z"]);
    expect(notes).toEqual(["/tmp keeps 1 MB from one command to the next; not kept: /tmp/b."]);
  });
});

describe("what cannot be told", () => {
  test("there is an end to folders in folders, however they come there", async () => {
    const { stderr, changes } = await bundle.run(
      `mkdir -p ${"a/".repeat(2000)}; echo x > ${"b".repeat(5000)}; mkdir -p ${"a/".repeat(200)} && echo x > ${"a/".repeat(200)}f`,
    );
    expect(stderr.match(/ENAMETOOLONG|name too long/gi)?.length).toBeGreaterThanOrEqual(2);
    expect(changes).toEqual([{ write: `${"a/".repeat(200)}f`, content: "x\n" }]);
  });

  test("a statement that cannot be done fails, and those around it are done", async () => {
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

  test("variables that are too large are forgotten, and the others last", async () => {
    const { state, notes } = await bundle.run("export BIG=$(seq 1 60000) SMALL=1 ALSO=$(seq 1 1000)");
    expect(Object.keys(state.env).sort()).toEqual(["ALSO", "SMALL"]);
    expect(notes).toEqual(["Exported variables may have 256 KB in all to last; forgotten: BIG."]);
  });
});

describe("what lasts", () => {
  test.each([
    ["exit", "cd src; export A=1; exit 4", 4],
    ["an error", "cd src; export A=1; set -e; false; export A=2", 1],
    ["an unset variable", "cd src; export A=1; set -u; echo $no; export A=2", 1],
    ["a syntax error later", "cd src; export A=1; eval 'if'", 1],
    ["the end", "cd src; export A=1; (cd /tmp; export A=3); bash -c 'cd /; export B=5'; false", 1],
  ])("is as it was at %s", async (_, command, exitCode) => {
    const came = await bundle.run(command, { files });
    expect([came.exitCode, came.state.cwd, came.state.env]).toEqual([exitCode, "/work/src", { A: "1" }]);
  });

  test("is unset where it was unset, and set anew where it was changed", async () => {
    const state = { cwd: "/work/src", env: { A: "1", B: "2", PATH: "/work/bin:/bin" } };
    expect((await bundle.run("unset A; B=3; hidden=4; export -n nothing", { files, state })).state).toMatchObject({
      cwd: "/work/src",
      env: { B: "3", PATH: "/work/bin:/bin" },
    });
  });

  test("a folder that is gone is left for the workspace", async () => {
    expect(await bundle.run("pwd; ls", { files, state: { cwd: "/work/gone" } })).toMatchObject({
      stdout: "/work\na.txt\ndata.json\nsrc\nünï\n",
      state: { cwd: "/work" },
    });
    expect((await bundle.run("mkdir d; cd d; rm -r ../d", { files })).state.cwd).toBe("/work");
  });

  test("what a workspace cannot keep is told of, once", async () => {
    const first = await bundle.run("ln -s a.txt l; chmod +x a.txt; mkdir empty; echo x > /etc/x; ln a.txt hard", {
      files,
    });
    expect(first.notes).toEqual([
      "A workspace has no symbolic links; not kept: l.",
      "A workspace has no empty folders; until something is in it, this is there for the rest of the turn only: empty.",
      "A workspace keeps no modes of files; forgotten: a.txt. A file that begins with #! can always be run.",
      "Only what is in /work is kept, and /tmp for the rest of the turn; lost: /etc/x.",
    ]);
    expect(first.changes).toEqual([{ write: "hard", content: "pear\napple\n" }]);
    expect((await bundle.run("ls -d empty", { files, state: first.state })).notes).toEqual([]);
  });
});
