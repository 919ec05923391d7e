import { beforeAll, expect, test } from "vitest";
import type { ViewFile } from "../../shell.ts";
import { type Bundle, openBundle } from "./shell.fixture.ts";

// The expected outputs are those of the real programs.

let bundle: Bundle;

beforeAll(async () => {
  bundle = await openBundle();
});

const files: ViewFile[] = [
  [".env", "TWO=2\n"],
  ["a.csv", "name,age\nBob,25\nada,36\n"],
  ["b c.txt", "one.two\n"],
  ["src/m.ts", "export function main() {\n  go();\n}\n"],
  ["src/n.ts", "export const n = 1;\n"],
  ["src/lib/u.js", "exports.u = 1;\n"],
  ["by.awk", "{ print NF }\n"],
];

test.each([
  ["ls src/*.ts | xargs -n1 basename", "m.ts\nn.ts\n"],
  ["ls src/*.ts | xargs -I{} cp {} {}.bak; ls src/*.bak", "src/m.ts.bak\nsrc/n.ts.bak\n"],
  ["printf 'a\\0b' | xargs -0n1 -P4 echo -n1", "-n1 a\n-n1 b\n"],
  ["printf 'a,b' | xargs -da --max-args=1 echo", ",b\n"],
  [
    "grep -Hn Bob a.csv; grep --color=never -rnE 'main|const' src",
    "a.csv:2:Bob,25\nsrc/m.ts:1:export function main() {\nsrc/n.ts:1:export const n = 1;\n",
  ],
  [
    "grep -e Bob -e ada a.csv; grep -1 Bob a.csv | wc -l; grep -nA1 main src/m.ts; grep -ne go src/m.ts",
    "Bob,25\nada,36\n3\n1:export function main() {\n2-  go();\n2:  go();\n",
  ],
  [
    "grep -rl --include '*.js' export . ; grep --context=1 -c Bob a.csv; grep -s x none; grep -- '-x' a.csv; echo -xyz | grep -e -xyz",
    "src/lib/u.js\n1\n-xyz\n",
    "grep: none: No such file or directory\n",
  ],
  ["grep -r TWO .", ".env:TWO=2\n"],
  [
    "sed -i.bak s/Bob/Eve/ a.csv; cat a.csv.bak a.csv | grep -c 'Bob\\|Eve'; sed -i'old/*' s/x/y/ src/n.ts; sed -ni 1p a.csv; cat a.csv",
    "2\nname,age\n",
  ],
  [
    "sed -i '/main/a\\    deep();' src/m.ts; sed -n 2p src/m.ts; sed '1c\\changed' a.csv | head -1; sed --expression='2i\\  x' a.csv | sed -n 2p; echo 'a b' | sed 's/a\\b/x/'",
    "    deep();\nchanged\n  x\nx b\n",
  ],
  [
    "sort -t, -nrk2 a.csv | head -1; sort a.csv; cut --delimiter=, --fields=1 a.csv | head -1",
    "ada,36\nBob,25\nada,36\nname,age\nname\n",
  ],
  ["cp -rf src s2; cp -av src s3 > /dev/null; cp -f a.csv d.csv; ls s2 s3 d.csv | wc -l", "11\n"],
  [
    "cp a.csv none/; mv a.csv none/; ls none; cp -r src new/; ls new",
    "lib\nm.ts\nn.ts\n",
    "cp: cannot create regular file 'none/': Not a directory\nmv: cannot create regular file 'none/': Not a directory\nls: none: No such file or directory\n",
  ],
  [
    "awk -f by.awk a.csv | head -1; awk -F, -v OFS='\\t' '{ $1 = $1 } 1' a.csv | head -1; awk '{ print $2 }' FS=, a.csv | head -1; awk -F. '{ print $2 }' 'b c.txt'; awk -vn=2 'NR == n' a.csv",
    "1\nname\tage\nage\ntwo\nBob,25\n",
  ],
  ["awk -f none a.csv; echo $?", "1\n", "awk: ENOENT: no such file or directory, open '/work/none'\n"],
  [
    "ls --color=never src/*.ts 'b c.txt' | wc -l; ls src/lib src/m.ts; ls -d src/lib src/m.ts",
    "3\nsrc/m.ts\n\nsrc/lib:\nu.js\nsrc/m.ts\nsrc/lib\n",
  ],
  [
    "ls src/m.ts src src/lib 'b c.txt'; ls -d src a.csv",
    "src/m.ts\nb c.txt\n\nsrc:\nlib\nm.ts\nn.ts\n\nsrc/lib:\nu.js\na.csv\nsrc\n",
  ],
  [
    "ls -R src/n.ts src/lib; ls -R src; ls --help src a.csv | sed -n 2p",
    "src/n.ts\n\nsrc/lib:\nu.js\nsrc:\nlib\nm.ts\nn.ts\n\nsrc/lib:\nu.js\n\n",
  ],
  [
    "printf 'ä\\nb\\nA\\na\\n_\\nB' | sort | tr '\\n' ' '; jq -nc '[{b:1},{a:1},{B:1}] | sort, (map(keys[0]) | sort)'",
    'A B _ a b ä [{"B":1},{"a":1},{"b":1}]\n["B","a","b"]\n',
  ],
])("%s", async (command, stdout, stderr = "") => {
  expect(await bundle.run(command, { files })).toMatchObject({ stdout, stderr });
});

test("a pattern with a trailing slash matches folders only", async () => {
  expect(await bundle.run("echo */ src/*/ *.none/; rm -r */; ls", { files })).toMatchObject({
    stdout: "src/ src/lib/ *.none/\na.csv\nb c.txt\nby.awk\n",
    stderr: "",
  });
});

test("with “set -e”, failures in conditions do not exit", async () => {
  const command =
    "set -e; f() { false; echo in; }; f || echo no; f && echo and; if ! f; then echo no; fi; (false; echo sub) || :; x=$(false; echo value) || :; echo $x; f; echo never";
  expect(await bundle.run(command)).toMatchObject({ stdout: "in\nin\nand\nin\nsub\nvalue\n", stderr: "", exitCode: 1 });
});

test("scripts find common programs", async () => {
  const { stdout, stderr, state } = await bundle.run(
    "set -e; t=$(mktemp); trap 'rm $t' EXIT; echo kept > $t; d=$(mktemp -d /tmp/build.XXXX); cp $t $d/x; realpath src/../a.csv none || cat $d/x",
    { files },
  );
  expect([stdout, stderr]).toEqual([
    "/work/a.csv\nkept\n",
    "trap: not supported, nothing is run on signals or exit\nrealpath: none: No such file or directory\n",
  ]);
  expect(state.scratch.map(([path]) => path.replace(/\.\w+/, ""))).toEqual(["build/x", "tmp"]);
});

test("rules match the arguments as written", async () => {
  const rules = [
    { tool: "bash", match: "cp -rf *", action: "deny" as const },
    { tool: "bash", match: "mktemp", action: "ask" as const },
  ];
  expect(await bundle.run("cp -rf src x; cp -r src y; mktemp; ls -d x y", { files, rules })).toMatchObject({
    stdout: "y\n",
  });
});
