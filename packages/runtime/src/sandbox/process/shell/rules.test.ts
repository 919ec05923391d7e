import { beforeAll, describe, expect, test } from "vitest";
import type { PolicyRule } from "../../../policy/evaluate-policy.ts";
import { type Bundle, openBundle } from "./shell.fixture.ts";

const deny = (match: string): PolicyRule => ({ tool: "bash", match, action: "deny" });

describe("denied commands are not run", () => {
  let bundle: Bundle;

  beforeAll(async () => {
    bundle = await openBundle();
  });

  const files = [
    ["a.txt", "a"],
    ["run.sh", "#!/bin/bash\nrm a.txt"],
    ["names", "a.txt\n"],
    ["bin/tool", "#!/bin/sh\nexec rm a.txt\n"],
  ] as [string, string][];

  test.each([
    "rm a.txt",
    "rm -f a.txt",
    "/bin/rm a.txt",
    "/usr/bin/rm a.txt",
    "/usr/../bin/./rm a.txt",
    "cd /bin && ./rm /work/a.txt",
    "\\rm a.txt",
    "r\\m a.txt",
    "'rm' a.txt",
    '"r"m a.txt',
    "r''m a.txt",
    "$'\\x72m' a.txt",
    "$(echo rm) a.txt",
    "`echo rm` a.txt",
    "x=rm; $x a.txt",
    "x='rm a.txt'; $x",
    'x=(rm a.txt); "${x[@]}"',
    "x=mr; ${x:1}${x:0:1} a.txt",
    "${nothing:-rm} a.txt",
    "{rm,a.txt}",
    "command rm a.txt",
    "command -p rm a.txt",
    "exec rm a.txt",
    "eval 'rm a.txt'",
    'eval "r""m" a.txt',
    "eval eval eval rm a.txt",
    "env rm a.txt",
    "env -i PATH=/bin rm a.txt",
    "A=1 rm a.txt",
    "time rm a.txt",
    "timeout 5 rm a.txt",
    "bash -c 'rm a.txt'",
    "sh -c 'exec rm a.txt'",
    "bash -c \"bash -c 'rm a.txt'\"",
    "echo 'rm a.txt' | bash",
    "bash <<< 'rm a.txt'",
    "bash <<EOF\nrm a.txt\nEOF",
    "bash run.sh",
    "./run.sh",
    "source run.sh",
    ". ./run.sh",
    "source <(echo rm a.txt)",
    "PATH=/work/bin:$PATH tool",
    "export PATH=/work/bin:$PATH; tool",
    "echo a.txt | xargs rm",
    "xargs -n1 rm < names",
    "xargs -I {} sh -c 'rm {}' < names",
    "find . -name a.txt -exec rm {} \\;",
    "find . -name a.txt -exec rm {} +",
    'f() { rm "$@"; }; f a.txt',
    "alias gone=rm; shopt -s expand_aliases\ngone a.txt",
    "(rm a.txt)",
    "{ rm a.txt; }",
    "rm a.txt &\nwait",
    "true && rm a.txt",
    "false || rm a.txt",
    "! rm a.txt",
    "echo a | rm a.txt",
    "rm a.txt | cat",
    "x=$(rm a.txt)",
    "cat <(rm a.txt)",
    "if rm a.txt; then :; fi",
    "while rm a.txt; do break; done",
    "for c in rm; do $c a.txt; done",
    "case x in x) rm a.txt;; esac",
    "ln -s /bin/rm mine; ./mine a.txt",
    "cp /bin/rm mine; ./mine a.txt",
    "mkdir -p b; ln -s /bin b/bin; b/bin/rm a.txt",
    "hash -p /bin/rm other; other a.txt",
    "trap 'rm a.txt' EXIT; exit",
    "builtin rm a.txt",
    "coproc rm a.txt",
    "awk 'BEGIN { system(\"rm a.txt\") }'",
    "sed -n '1e rm a.txt' names",
    "echo | awk '{ print | \"rm a.txt\" }'",
    "tee >(rm a.txt) < names",
    "printf 'rm a.txt' > s; bash s",
    'set -- rm a.txt; "$@"',
    "declare -n ref=cmd; cmd=rm; $ref a.txt",
    "read -r line <<< 'rm a.txt'; $line",
    "mapfile -t lines <<< 'a.txt'; rm \"${lines[0]}\"",
    "compgen -W x -F rm; rm a.txt",
  ])("%s", async (command) => {
    const { changes, stdout, stderr } = await bundle.run(command, { files, rules: [deny("rm")] });
    expect(changes.filter((change) => "delete" in change)).toEqual([]);
    // It was denied, or the shell does not support this way.
    expect(stdout + stderr).toMatch(
      /^$|rm: denied by this agent's policy|not found|not a shell builtin|not supported|invalid|unknown|unexpected|usage|hash|No such file/im,
    );
  });

  test("the same commands run if nothing is denied", async () => {
    for (const command of [
      "/usr/../bin/./rm a.txt",
      "eval eval eval rm a.txt",
      "xargs -I {} sh -c 'rm {}' < names",
      "PATH=/work/bin:$PATH tool",
      "echo 'rm a.txt' | bash",
      "x=mr; ${x:1}${x:0:1} a.txt",
      "find . -name a.txt -exec rm {} +",
    ]) {
      expect([command, (await bundle.run(command, { files })).changes]).toEqual([command, [{ delete: "a.txt" }]]);
    }
  });

  test("a denied command reports it and exits with 126, and the next one runs", async () => {
    expect(await bundle.run("rm a.txt; echo $?; echo on", { files, rules: [deny("rm")] })).toMatchObject({
      stdout: "126\non\n",
      stderr: "rm: denied by this agent's policy\n",
      exitCode: 0,
    });
    expect(await bundle.run("set -e; rm a.txt; echo on", { files, rules: [deny("rm")] })).toMatchObject({
      stdout: "",
      exitCode: 126,
    });
  });

  test.each([
    ["cd", "mkdir d; cd d; pwd", "/work\n"],
    ["export", "export A=1; echo [$A]", "[]\n"],
    ["export SECRET=*", "export SECRET=1; export OTHER=2; echo [$SECRET$OTHER]", "[2]\n"],
    ["eval", "eval 'echo no'; echo on", "on\n"],
    ["source", ". run.sh; echo on", "on\n"],
    ["test", "[ 1 = 1 ] && echo no; echo on", "on\n"],
    ["echo", "echo no; printf on", "on"],
    ["exec", "exec echo no; echo on", "on\n"],
    ["command", "command echo no; echo on", "on\n"],
    ["set", "set -e; false; echo on", "on\n"],
    ["read", "read x <<< no; echo [$x]", "[]\n"],
    ["declare", "typeset x=no; echo [$x]", "[]\n"],
    ["cd /tmp*", "cd /tmp; cd ..; pwd", "/\n"],
    [":", ": && echo no; echo on", "on\n"],
  ])("the builtin %s can be denied", async (match, command, stdout) => {
    expect((await bundle.run(command, { files, rules: [deny(match)] })).stdout).toBe(stdout);
  });
});
