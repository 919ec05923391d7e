import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { ThinkeryError } from "@thinkery/sdk";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readWorkflow } from "./read-workflow.ts";

let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "thinkery-workflow-"));
});

afterEach(() => rm(cwd, { recursive: true }));

const values = { env: { USER: "ann" }, vars: {} };

async function read(text: string, { file = "wf.yaml", ...options }: { file?: string; allowsMissing?: boolean } = {}) {
  await writeFile(join(cwd, file), text);
  return readWorkflow(file, { cwd, values, ...options });
}

/** Returns the problems as the command line shows them. */
async function readProblems(text: string, file?: string): Promise<string[]> {
  const error = await read(text, file === undefined ? {} : { file }).then(
    () => undefined,
    (thrown: ThinkeryError) => thrown,
  );
  if (!error) return [];
  expect(error.code).toBe("bad_request");
  const others = (error.details?.issues ?? []).slice(1);
  return [error.message, ...others.map(({ path, message }) => `${path.join(".")}: ${message}`)];
}

const full = `
name: review
description: Reviews a branch.
agents:
  lead:
    model: scripted:lead
    system_prompt: |
      Lead \${{ workflow.name }} of \${{ vars.branch }}.
    role: Leads.
    schedule: "0 9 * * 1-5"
    settings: { temperature: 0.2, budget: { tokens: 1000 } }
  kimi-code.2:
    tools: [bash]
    max_steps: 5
  plain:
context: { channels: [design], documents: { notes.md: "By \${{ env.USER }}" } }
setup:
  - shell: git diff \${{ vars.branch }}
    as: diff
vars: { branch: main, depth: 3, strict: true }
kickoff: "@lead and @Kimi-Code.2: review\\n\${{ diff }}"
limits: { max_turns: 50 }
`;

test("a workflow is read from YAML and from JSON, with all of its keys", async () => {
  const { workflow, missing } = await read(full);
  expect(workflow).toMatchObject({
    name: "review",
    agents: { lead: { role: "Leads." }, "kimi-code.2": { tools: ["bash"] }, plain: {} },
    vars: { branch: "main", depth: 3, strict: true },
    kickoff: "@lead and @Kimi-Code.2: review\n${{ diff }}",
  });
  expect(missing).toEqual([]);
  const json = JSON.stringify(workflow, null, "\t");
  expect((await read(`\uFEFF${json}`, { file: "wf.json" })).workflow).toEqual(workflow);
});

const start = "name: x\nagents: { a: {}, bob: {} }\n";

test.each<[name: string, text: string, problems: string[]]>([
  ["an empty file", "", ["wf.yaml, line 1, column 1: expected a workflow: a map with name and agents."]],
  ["a list", "- a\n", ["wf.yaml, line 1, column 1: expected a workflow: a map with name and agents."]],
  [
    "invalid YAML",
    "name: x\nagents: {\n",
    [
      "wf.yaml, line 3, column 1: invalid YAML: flow map in block collection must be sufficiently indented and end with a }.",
    ],
  ],
  [
    "an unquoted mention",
    `${start}kickoff: @a go\n`,
    [
      "wf.yaml, line 3, column 10: invalid YAML: plain value cannot start with reserved character @; put the text in quotes.",
    ],
  ],
  [
    "two documents",
    `${start}---\nname: y\n`,
    ["wf.yaml, line 3, column 1: invalid YAML: more than one document; remove what follows “---”."],
  ],
  [
    "nothing that is needed",
    "{}",
    ["wf.yaml, line 1, column 1: name: is missing.", "agents: is missing (line 1, column 1)"],
  ],
  ["no agents", "name: x\nagents: {}\n", ["wf.yaml, line 2, column 9: agents: expected at least one agent."]],
  ["agents as a list", "name: x\nagents: [a]\n", ["wf.yaml, line 2, column 9: agents: expected a map, got a list."]],
  [
    "unknown keys at every level",
    "nmae: x\nname: x\nagents:\n  a: { modle: a:b, prompt: x }\nsetup: [{ shel: ls, shell: ls }]\nlimits: { max_turn: 1 }\n",
    [
      "wf.yaml, line 1, column 1: nmae: unknown key. Did you mean “name”?",
      "agents.a.modle: unknown key. Did you mean “model”? (line 4, column 8)",
      "agents.a.prompt: unknown key; expected one of backend, blueprint, model, system_prompt, system_prompt_file, tools, max_steps, max_tokens, role, settings, schedule (line 4, column 20)",
      "setup.0.shel: unknown key. Did you mean “shell”? (line 5, column 11)",
      "limits.max_turn: unknown key. Did you mean “max_turns”? (line 6, column 11)",
    ],
  ],
  [
    "wrong types",
    "name: 5\nagents: { a: { max_steps: many, tools: bash }, b: 3 }\nvars: { x: [1], 1a: y }\nkickoff: [go]\n",
    [
      "wf.yaml, line 1, column 7: name: expected text, got a number.",
      "agents.a.max_steps: expected a number, got text (line 2, column 27)",
      "agents.a.tools: expected a list, got text (line 2, column 40)",
      "agents.b: expected a map, got a number (line 2, column 51)",
      "vars.x: expected a text of at most 100000 characters, a number, true or false (line 3, column 12)",
      "vars.1a: use letters, digits, _ and -, with a letter or _ first (line 3, column 17)",
      "kickoff: expected text, got a list (line 4, column 10)",
    ],
  ],
  [
    "two agents of one name, and one that differs in case",
    "name: x\nagents:\n  bob: {}\n  amy: {}\n  bob: {}\n  Amy: {}\n",
    [
      "wf.yaml, line 5, column 3: agents.bob: defined twice, first on line 3, column 3.",
      "agents.Amy: differs from the agent “amy” only in case (line 6, column 3)",
    ],
  ],
  [
    "a name that agents may not have",
    "name: x\nagents:\n  sub: {}\n",
    ["wf.yaml, line 3, column 3: agents.sub: reserved (think, agency, user, sub); choose another name."],
  ],
  [
    "mentions of nobody",
    `${start}kickoff: |\n  @bob, @bbo and\n  @zebra. Not \`@code\` or a@b.\n`,
    [
      "wf.yaml, line 4, column 9: kickoff: no agent is named “bbo”. Did you mean “@bob”?",
      "kickoff: no agent is named “zebra”. The agents are a, bob (line 5, column 3)",
    ],
  ],
  [
    "placeholders without a value",
    `${start}vars: { branch: main }\nsetup:\n  - shell: "echo \\u0024{{ x }} \${{ vars.brnach }}"\n    as: one\n  - shell: cat \${{ one }} \${{ two }}\n    as: two\n  - { shell: ls, as: one }\nkickoff: |\n  @bob $\${{ fine }}\n    \${{ env.USR }} \${{\n`,
    [
      "wf.yaml, line 5, column 12: setup.0.shell: “x” is not known.",
      "setup.0.shell: the variable “vars.brnach” has no value. Did you mean “vars.branch”? (line 5, column 12)",
      "setup.1.shell: “two” is the output of this or a later setup step (line 7, column 27)",
      "setup.2.as: “one” is the name of step 1 already (line 9, column 22)",
      "kickoff: the environment variable “USR” is not set. Did you mean “env.USER”? (line 12, column 5)",
      "kickoff: “${{” has no closing “}}” (line 12, column 20)",
    ],
  ],
  [
    "both prompts, and a file that is missing",
    "name: x\nagents:\n  a: { system_prompt: hi, system_prompt_file: none.md }\n",
    [
      "wf.yaml, line 3, column 27: agents.a.system_prompt_file: give either system_prompt or system_prompt_file, not both.",
      "agents.a.system_prompt_file: “none.md” does not exist (line 3, column 47)",
    ],
  ],
])("%s is reported with its place", async (_, text, problems) => {
  expect(await readProblems(text)).toEqual(problems);
});

test("JSON that does not parse is called JSON, and hostile YAML is refused", async () => {
  expect(await readProblems('{"name": "x"', "wf.json")).toEqual([
    expect.stringMatching(/^wf\.json, line 1, column \d+: invalid JSON: /),
  ]);
  expect(await readProblems(`name: ${"[".repeat(20_000)}`)).toEqual(["wf.yaml is nested too deeply."]);
  const bomb = [
    "a: &a [x]",
    ..."bcdefghij"
      .split("")
      .map((name, n) => `${name}: &${name} [${Array(10).fill(`*${"abcdefghij"[n]}`).join(", ")}]`),
  ];
  expect(await readProblems(bomb.join("\n"))).toEqual([expect.stringContaining("too many aliases")]);
  expect((await readProblems(`${start}${Array.from({ length: 60 }, (_, n) => `k${n}z: 1`).join("\n")}`)).at(-1)).toBe(
    ": and 10 more problems",
  );
});

test("a file that cannot be read says why", async () => {
  const readFailure = (file: string) => readWorkflow(file, { cwd, values }).catch((error: Error) => error.message);
  await mkdir(join(cwd, "folder.yaml"));
  await writeFile(join(cwd, "big.yaml"), "x".repeat(5 * 1024 * 1024));
  expect(await readFailure("none.yaml")).toBe("none.yaml does not exist.");
  expect(await readFailure("folder.yaml")).toBe("folder.yaml is not a file.");
  expect(await readFailure("big.yaml")).toBe("big.yaml is larger than 4 MB.");
});

test("prompts are read from files next to the workflow, and their placeholders have places there", async () => {
  await mkdir(join(cwd, "prompts"));
  await writeFile(join(cwd, "prompts/a.md"), "One\n${{ workflow.name }} ${{ vars.x }}\n");
  const text = "name: x\nagents: { a: { system_prompt_file: prompts/a.md } }\n";
  expect(await readProblems(text)).toEqual([
    "prompts/a.md, line 2, column 22: agents.a.system_prompt_file: the variable “vars.x” has no value. Give it one with --var x=…, or under vars.",
  ]);
  const { workflow, missing } = await read(text, { allowsMissing: true });
  expect(workflow.agents).toEqual({ a: { system_prompt: "One\n${{ workflow.name }} ${{ vars.x }}\n" } });
  expect(missing).toEqual(["vars.x"]);
  // A misspelled name is wrong even if nothing has to have a value yet.
  const misspelled = `${text}vars: { y: 1, xx: 2 }\n`;
  await expect(read(misspelled, { allowsMissing: true })).rejects.toThrow("Did you mean “vars.y”?");
});

const createPrompted = (file: string) => `name: x\nagents: { a: { system_prompt_file: ${JSON.stringify(file)} } }\n`;

async function readPromptProblem(file: string, workflow: string, workingFolder = cwd): Promise<string | undefined> {
  await writeFile(join(cwd, workflow), createPrompted(file));
  const options = { cwd: workingFolder, values };
  return readWorkflow(join(cwd, workflow), options).then(
    () => undefined,
    (error: Error) => /system_prompt_file: (.*)$/.exec(error.message)?.[1],
  );
}

test("prompts outside of the workflow's folder are not read, neither by path nor through links", async () => {
  for (const folder of ["repo/flows", "repo/prompts", "repo-secret"])
    await mkdir(join(cwd, folder), { recursive: true });
  await writeFile(join(cwd, "repo-secret/key"), "secret");
  await writeFile(join(cwd, "repo/prompts/a.md"), "A");
  await writeFile(join(cwd, "repo/flows/big.md"), "x".repeat(100_001));
  await symlink(join(cwd, "repo-secret/key"), join(cwd, "repo/flows/link"));
  await symlink(join(cwd, "repo-secret"), join(cwd, "repo/flows/linked"));
  const outside = (file: string) => `“${file}” is outside of the workflow's folder, so it is not read.`;
  const repo = join(cwd, "repo");
  for (const file of ["../../repo-secret/key", "link", "linked/key"])
    expect(await readPromptProblem(file, "repo/flows/wf.yaml", repo)).toBe(outside(file));
  // In the working folder, with the workflow itself.
  expect(await readPromptProblem("../prompts/a.md", "repo/flows/wf.yaml", repo)).toBeUndefined();
  expect(await readPromptProblem("../prompts/a.md", "repo/flows/wf.yaml", join(cwd, "repo-secret"))).toBe(
    outside("../prompts/a.md"),
  );
  expect(await readPromptProblem("../prompts/a.md", "repo/flows/wf.yaml", "/")).toBe(outside("../prompts/a.md"));
  expect(await readPromptProblem(join(homedir(), "x"), "repo/flows/wf.yaml", repo)).toContain("must be relative");
  expect(await readPromptProblem("big.md", "repo/flows/wf.yaml", repo)).toBe(
    "“big.md” has more than 100000 characters.",
  );
  expect(await readPromptProblem("linked", "repo/flows/wf.yaml", repo)).toBe(outside("linked"));
  expect(await readPromptProblem(".", "repo/flows/wf.yaml", repo)).toBe("“.” is not a file.");
});
