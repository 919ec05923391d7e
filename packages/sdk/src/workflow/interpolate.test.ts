import { expect, test } from "vitest";
import { createRandom } from "../../../../tests/kit/random.ts";
import type { ThinkeryError } from "../protocol/errors.ts";
import type { Workflow } from "../protocol/workflow.ts";
import {
  checkPlaceholders,
  createPlaceholderError,
  interpolate,
  listPlaceholders,
  resolveWorkflow,
  resolveWorkflowInParts,
} from "./interpolate.ts";

const values = {
  workflow: { name: "review", tag: "pr-1" },
  env: { HOME: "/home/ann", USER: "ann" },
  vars: { branch: "main", depth: 3, strict: false },
  setup: { diff: "+ one", "files-list": "a.ts" },
};

const path = ["agents", "reviewer", "system_prompt"];

const insert = (text: string) => interpolate(text, values, path);

function getError(run: () => unknown): ThinkeryError {
  try {
    run();
  } catch (error) {
    return error as ThinkeryError;
  }
  throw new Error("no error");
}

const getMessage = (text: string) => getError(() => insert(text)).message;

test("every kind of placeholder is replaced, however it is spaced", () => {
  expect(insert("${{ workflow.name }}:${{workflow.tag}} of ${{  env.USER\n}}")).toBe("review:pr-1 of ann");
  expect(insert("${{vars.branch}} ${{vars.depth}} ${{vars.strict}}")).toBe("main 3 false");
  expect(insert("${{ diff }}${{ files-list }}")).toBe("+ onea.ts");
  expect(insert("")).toBe("");
});

test("$${{ is the text ${{, and other braces and dollars are text", () => {
  expect(insert("$${{ vars.branch }}")).toBe("${{ vars.branch }}");
  expect(insert("$$${{ vars.branch }}")).toBe("$${{ vars.branch }}");
  expect(insert("${{vars.branch}}$${{ x }} ${{vars.depth}}")).toBe("main${{ x }} 3");
  expect(insert("{{ message }} ${HOME} $HOME }} $ {{ x }}")).toBe("{{ message }} ${HOME} $HOME }} $ {{ x }}");
});

test.each([
  ["${{ vars.brnach }}", "the variable “vars.brnach” has no value. Did you mean “vars.branch”?"],
  ["${{ vars.pr }}", "the variable “vars.pr” has no value. Give it one with --var pr=…, or under vars."],
  ["${{ branch }}", "“branch” is not known. Did you mean “vars.branch”?"],
  ["${{ vars.diff }}", "the variable “vars.diff” has no value. Did you mean “diff”?"],
  ["${{ dif }}", "“dif” is not known. Did you mean “diff”?"],
  ["${{ workflow.nmae }}", "“workflow.nmae” is not known. Did you mean “workflow.name”?"],
  ["${{ steps.diff }}", "“steps.diff” is not known. Did you mean “diff”?"],
  ["${{ zebra }}", "“zebra” is not known."],
  ["${{ env.HOEM }}", "the environment variable “HOEM” is not set. Did you mean “env.HOME”?"],
  ["${{ constructor }}", "“constructor” is not known."],
  [
    "${{ vars.toString }}",
    "the variable “vars.toString” has no value. Give it one with --var toString=…, or under vars.",
  ],
  ["${{ }}", "“${{ }}” has no name."],
  ["a ${{ vars.branch", "“${{ vars.branch” has no closing “}}”."],
  ["${{ ${{ diff }}", "“${{ ${{ diff }}” has no closing “}}”."],
  [
    "${{ a + b }}",
    "“${{ a + b }}” is not a name; use workflow.name, workflow.tag, env.NAME, vars.name or the name of a setup step.",
  ],
])("%s is an error that names its place", (text, message) => {
  expect(getMessage(text)).toBe(`agents.reviewer.system_prompt: ${message}`);
});

test("a placeholder needs what its run has", () => {
  const few = { workflow: { name: "review" } };
  expect(getError(() => interpolate("${{ workflow.tag }}", few, ["kickoff"])).message).toBe(
    "kickoff: “workflow.tag” has no value: this run has no tag.",
  );
  expect(getError(() => interpolate("${{ env.HOME }}", few, ["kickoff"])).message).toBe(
    "kickoff: “env.HOME” is only known where the command line runs the workflow.",
  );
});

const workflow: Workflow = {
  name: "review",
  agents: { lead: { system_prompt: "Lead ${{ workflow.name }}." }, reviewer: {} },
  context: { documents: { "diff.patch": "${{ diff }}" } },
  setup: [{ shell: "git fetch ${{ vars.branch }}" }, { shell: "git diff ${{ env.USER }}", as: "diff" }],
  vars: { branch: "main" },
  kickoff: "@lead read $${{ it }} on ${{ vars.branch }}",
};

test("a whole workflow is resolved except for its setup, and what it lacks stays absent", () => {
  expect(resolveWorkflow(workflow, values)).toEqual({
    ...workflow,
    agents: { lead: { system_prompt: "Lead review." }, reviewer: {} },
    context: { documents: { "diff.patch": "+ one" } },
    kickoff: "@lead read ${{ it }} on main",
  });
  expect(resolveWorkflow({ agents: { one: {} } }, values)).toEqual({ agents: { one: {} } });
});

test("the names that a workflow uses are listed once each", () => {
  expect(listPlaceholders(workflow)).toEqual(["vars.branch", "env.USER", "workflow.name", "diff"]);
});

test("a workflow is checked before its setup runs, and all problems are found", () => {
  expect(checkPlaceholders(workflow, values)).toEqual([]);
  const broken: Workflow = {
    ...workflow,
    setup: [{ shell: "cat ${{ diff }} ${{ vars.pr }}" }, { shell: "git diff ${{ diff }}", as: "diff" }],
    kickoff: "$${{ x }} ${{ dif }} ${{ env.NOTHING }}",
  };
  const issues = checkPlaceholders(broken, values);
  expect(issues.map(({ path: place, index, message }) => [place.join("."), index, message])).toEqual([
    ["setup.0.shell", 0, "“diff” is the output of this or a later setup step"],
    ["setup.0.shell", 1, "the variable “vars.pr” has no value. Give it one with --var pr=…, or under vars"],
    ["setup.1.shell", 0, "“diff” is the output of this or a later setup step"],
    ["kickoff", 1, "“dif” is not known. Did you mean “diff”?"],
    ["kickoff", 2, "the environment variable “NOTHING” is not set"],
  ]);
  expect(issues.map(({ missing }) => missing)).toEqual([
    undefined,
    { kind: "vars", name: "pr" },
    undefined,
    undefined,
    { kind: "env", name: "NOTHING" },
  ]);
  expect(createPlaceholderError(issues)).toMatchObject({
    code: "bad_request",
    message: "setup.0.shell: “diff” is the output of this or a later setup step.",
    details: { issues: { length: 5 } },
  });
});

test("all placeholders without a value are reported at once when a workflow is resolved", () => {
  const error = getError(() => resolveWorkflow(workflow, { workflow: { name: "review" } }));
  expect(error.details?.issues?.map((issue) => issue.path.join("."))).toEqual([
    "context.documents.diff.patch",
    "kickoff",
  ]);
});

const alphabet = "$${{}} \n.vars-x";

test("text without placeholders is unchanged", () => {
  const random = createRandom("interpolate text");
  for (let round = 0; round < 2000; round++) {
    const text = random.text(random.below(40), alphabet);
    if (text.includes("${{")) continue;
    expect(insert(text)).toBe(text);
  }
});

test("an escaped text is restored, whatever is in it", () => {
  const random = createRandom("interpolate escapes");
  for (let round = 0; round < 2000; round++) {
    const text = random.text(random.below(40), alphabet);
    expect(insert(text.replaceAll("${{", () => "$${{"))).toBe(text);
  }
});

test("values are inserted once and never interpolated again", () => {
  const random = createRandom("interpolate values");
  for (let round = 0; round < 2000; round++) {
    const [one, two] = [random.text(random.below(20), alphabet), `\${{ vars.${random.pick(["one", "two"])} }}`];
    const vars = { one, two };
    const inserted = interpolate("<${{ vars.one }}|${{ vars.two }}${{ vars.one }}>", { ...values, vars }, path);
    expect(inserted).toBe(`<${one}|${two}${one}>`);
  }
});

test("values cannot make a text any longer than it may be", () => {
  const vars = { long: "x".repeat(50_000) };
  const create = (prompt: string, kickoff = ""): Workflow => ({
    name: "big",
    agents: { one: { system_prompt: prompt } },
    kickoff,
  });
  const resolve = (workflow: Workflow) => resolveWorkflow(workflow, { workflow: { name: "big" }, vars });
  expect(resolve(create("${{ vars.long }}${{ vars.long }}")).agents.one?.system_prompt).toHaveLength(100_000);
  expect(getError(() => resolve(create("${{ vars.long }}".repeat(6000)))).message).toContain(
    "agents.one.system_prompt: has more than 100000 characters",
  );
  expect(getError(() => resolve(create("", "${{ vars.long }}".repeat(3)))).message).toContain("kickoff: has more");
  const documents = { "a.md": "${{ vars.long }}".repeat(21) };
  expect(getError(() => resolve({ ...create(""), context: { documents } })).message).toContain(
    "context.documents.a.md",
  );
});

test.each<[what: string, prompt: string]>([
  ["openings", "${{".repeat(33_000)],
  ["openings and one end", `${"${{".repeat(33_000)}}}`],
  ["openings on their own lines", "${{\n".repeat(25_000)],
  ["placeholders without a value", "${{a}}".repeat(16_000)],
  ["variables that are nearly known", "${{vars.brnch}}".repeat(6_000)],
  ["escaped openings", "$${{".repeat(25_000)],
  ["ends", "}}".repeat(50_000)],
  ["placeholders", "${{vars.branch}}".repeat(6_000)],
])("fifty prompts of %s take linear time, in parts", (_, prompt) => {
  const agents = Object.fromEntries(
    Array.from({ length: 50 }, (__, index) => [`a${index}`, { system_prompt: prompt }]),
  );
  const vars = Object.fromEntries(Array.from({ length: 200 }, (__, index) => [`branch${index}`, "x"]));
  const resolving = resolveWorkflowInParts(
    { agents, kickoff: "" },
    { workflow: { name: "x" }, vars: { ...vars, branch: "x" } },
  );
  let parts = 0;
  try {
    // In quadratic time, this takes minutes.
    for (; !resolving.next().done; parts++);
  } catch (error) {
    expect((error as ThinkeryError).details?.issues?.length).toBeLessThanOrEqual(20);
  }
  expect(parts).toBeGreaterThan(50);
});
