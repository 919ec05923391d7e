import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Bash as Interpreter } from "just-bash/browser";
import { beforeAll, describe, expect, test } from "vitest";
import { bundleAlone } from "../../../../build.mjs";
import type { PolicyRule } from "../../../policy/evaluate-policy.ts";
import { withCommandHook } from "./command-hook.ts";
import { type Bundle, openBundle } from "./shell.fixture.ts";

let bundle: Bundle;

beforeAll(async () => {
  bundle = await openBundle();
});

const deny = (match: string): PolicyRule => ({ tool: "bash", match, action: "deny" });

describe("the hook", () => {
  let Bash: typeof Interpreter;

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), "interpreter-"));
    const entry = join(folder, "entry.js");
    const file = fileURLToPath(import.meta.resolve("just-bash/browser"));
    await writeFile(entry, `export { Bash } from ${JSON.stringify(file)};`);
    await writeFile(join(folder, "bundle.mjs"), (await bundleAlone(entry)).outputFiles[0]?.text ?? "");
    ({ Bash } = await import(/* @vite-ignore */ pathToFileURL(join(folder, "bundle.mjs")).href));
    await rm(folder, { recursive: true });
  });

  test("is called once for each command, with its own name and its expanded arguments", async () => {
    const calls: string[] = [];
    const coverage = withCommandHook((name, args, { cwd }) => void calls.push([cwd, name, ...args].join(" ")));
    const bash = new Bash({ defenseInDepth: false, coverage });
    const lines = [
      "echo {a,b} $((1 + 1)); /bin/echo c; printf x | cat",
      "f() { cd /tmp; command -p ls $1 | sort; }; f '*'",
      "bash -c 'export A=1; eval pwd'; echo a b | xargs -n 1 basename",
    ];
    await bash.exec(lines.join("\n"));
    expect(calls).toEqual([
      "/home/user echo a b 2",
      "/home/user echo c",
      "/home/user printf x",
      "/home/user cat",
      "/home/user cd /tmp",
      "/tmp command -p ls *",
      "/tmp ls *",
      "/tmp sort",
      "/tmp bash -c export A=1; eval pwd",
      "/tmp export A=1",
      "/tmp eval pwd",
      "/tmp pwd",
      "/tmp echo a b",
      "/tmp xargs -n 1 basename",
      "/tmp basename a",
      "/tmp basename b",
    ]);
  });

  test("is required: without it nothing runs", async () => {
    const bash = new Bash({ defenseInDepth: false });
    for (const command of ["cd /tmp && pwd", "echo x", "/bin/echo x", "cat /bin/cat", "export A=1; ls /"]) {
      const result = await bash
        .exec(command)
        .catch((error: Error) => ({ stdout: "", stderr: error.message, exitCode: 1 }));
      expect(result).toMatchObject({ stdout: "", stderr: expect.stringContaining("beforeCommand") });
    }
  });
});

/** Builtins of the shell. Without arguments, `exec` does nothing. */
const builtins = [
  ": true false cd export unset exit local set break continue return eval shift getopts compgen complete compopt",
  "pushd popd dirs source . read mapfile readarray declare typeset readonly let command builtin shopt exec test [",
  "wait type hash help echo printf pwd alias unalias trap history",
].join(" ");

describe("every command is checked", () => {
  test.each(builtins.split(" "))("the builtin %s", async (name) => {
    const denial = { stdout: "", stderr: `${name}: denied by this agent's policy\n`, exitCode: 126, changes: [] };
    expect(await bundle.run(`${name} x`, { rules: [deny(name)] })).toMatchObject(denial);
  });

  test("all programs, by name and by path", async () => {
    const host = { fetch: async () => "" };
    const names = (await bundle.run("ls /bin", { host })).stdout.trim().split("\n");
    expect(names.length).toBeGreaterThan(75);
    expect(names).toContain("curl");
    for (const prefix of ["", "/bin/", "/usr/bin/", "command "]) {
      // By its name alone, “time” is a keyword: the command after it is checked.
      const checked = names.filter((name) => prefix !== "" || name !== "time");
      const lines = checked.map((name) => `${prefix}${name} x`).join("\n");
      const { stdout, stderr } = await bundle.run(lines, { host, rules: checked.map(deny) });
      expect(stdout).toBe("");
      expect(stderr.trim().split("\n")).toEqual(checked.map((name) => `${name}: denied by this agent's policy`));
    }
  });

  test("with its actual arguments, and other commands are not affected", async () => {
    const rules = [deny("rm -rf *")];
    const files: [string, string][] = [
      ["d/a", ""],
      ["e/a", ""],
    ];
    expect((await bundle.run("rm -rf d; rm -r -f d; x='-rf d'; rm $x; rm -r e", { files, rules })).changes).toEqual([
      { delete: "d/a" },
      { delete: "e/a" },
    ]);
    expect((await bundle.run("rm -rf d; x='-rf d'; rm $x; rm -r e", { files, rules })).changes).toEqual([
      { delete: "e/a" },
    ]);
  });
});

// Each would create the file “marked” if it got through. COMMAND is NAME with its ARGS.
const ways = [
  "COMMAND",
  "\\COMMAND",
  "'COMMAND'",
  "$(printf %s 'COMMAND' | cut -d' ' -f1) ARGS",
  "x=NAME; $x ARGS",
  "x='COMMAND'; $x",
  'x=(COMMAND); "${x[@]}"',
  'set -- COMMAND; "$@"',
  "declare -n ref=x; x=NAME; $ref ARGS",
  "read -r line <<< 'COMMAND'; $line",
  "for c in NAME; do $c ARGS; done",
  "command COMMAND",
  "command -p COMMAND",
  "command command COMMAND",
  "builtin COMMAND",
  "builtin builtin COMMAND",
  "command builtin COMMAND",
  "exec COMMAND",
  "exec command COMMAND",
  "eval 'COMMAND'",
  "eval eval COMMAND",
  "builtin eval 'COMMAND'",
  "env COMMAND",
  "env -i PATH=/bin COMMAND",
  "env A=1 bash -c 'COMMAND'",
  "A=1 COMMAND",
  "time COMMAND",
  "timeout 5 COMMAND",
  "timeout 5 bash -c 'COMMAND'",
  "nohup COMMAND",
  "bash -c 'COMMAND'",
  "sh -c 'eval \"COMMAND\"'",
  "echo 'COMMAND' | bash",
  "bash <<< 'COMMAND'",
  "bash run.sh",
  "./run.sh",
  "cat run.sh | sh",
  "echo ARGS | xargs NAME",
  "echo ARGS | xargs -n1 NAME",
  "echo x | xargs -I {} bash -c 'COMMAND'",
  "find . -name run.sh -exec NAME ARGS \\;",
  "find . -name run.sh -exec bash -c 'COMMAND' \\;",
  "find . -name run.sh -exec bash {} +",
  "f() { COMMAND; }; f",
  'f() { "$@"; }; f COMMAND',
  "function NAME_ { command COMMAND; }; NAME_",
  "alias other='COMMAND'; shopt -s expand_aliases\nother",
  "alias NAME=NAME; shopt -s expand_aliases\nCOMMAND",
  "(COMMAND)",
  "( ( COMMAND ) )",
  "{ COMMAND; }",
  "COMMAND &\nwait",
  "true && COMMAND",
  "false || COMMAND",
  "! COMMAND",
  "COMMAND | cat",
  "cat run.sh | COMMAND",
  "x=$(COMMAND)",
  "x=`COMMAND`",
  "echo ${none:-$(COMMAND)}",
  "cat <(COMMAND)",
  "cat run.sh > >(COMMAND)",
  "if COMMAND; then :; fi",
  "while COMMAND; do break; done",
  "until COMMAND; do break; done",
  "case x in x) COMMAND;; esac",
  "[[ -n $(COMMAND) ]]",
  "(( $(COMMAND) ))",
  "cat <<EOF\n$(COMMAND)\nEOF",
  "trap 'COMMAND' EXIT; exit",
  "PS4='$(COMMAND)'; set -x; :",
  "awk 'BEGIN { system(\"COMMAND\") }'",
  "awk 'BEGIN { \"COMMAND\" | getline x }'",
  "printf '%s' 'COMMAND' > s; bash s",
];

describe.each([
  ["source", "mark.sh"],
  ["eval", "touch\\ marked"],
  ["touch m*", "marked"],
])("no way around a rule for %s", (match, args) => {
  const name = match.split(" ")[0] as string;
  const files: [string, string][] = [
    ["mark.sh", "touch marked\n"],
    ["run.sh", `#!/bin/bash\n${name} ${args}\n`],
  ];
  const fill = (way: string) =>
    way.replaceAll("COMMAND", "NAME ARGS").replaceAll("NAME", name).replaceAll("ARGS", args);
  const isMarked = async (way: string, rules: PolicyRule[]) =>
    (await bundle.run(fill(way), { files, rules })).changes.some(
      (change) => "write" in change && change.write === "marked",
    );

  test.each(ways)("%s", async (way) => {
    expect(await isMarked(way, [deny(match)])).toBe(false);
  });

  test("most of them work without the rule", async () => {
    let reached = 0;
    for (const way of ways) if (await isMarked(way, [])) reached++;
    expect(reached).toBeGreaterThan(45);
  });
});
