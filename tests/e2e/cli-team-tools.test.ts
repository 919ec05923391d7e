import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bindCliInProcess } from "../kit/cli-in-process.ts";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

// Tools of agents and agencies in the CLI.

let testbed: Testbed;
let agencyCount = 0;
const { folder, run, runJson, expectError } = bindCliInProcess(() => testbed.host());

beforeAll(async () => {
  const call = (tool: string, input: object) => [{ call: { tool, input } }, { text: `{{ results.${tool} }}` }];
  testbed = await openTestbed({
    scripts: {
      caller: [
        { when: "weather", steps: call("get_weather", { city: "Paris" }) },
        { when: "add", steps: call("add", { a: 2, b: 3 }) },
        { when: "title", steps: call("set_title", { title: "x" }) },
      ],
    },
  });
}, 60_000);

afterAll(() => testbed?.stop());

async function openAgency() {
  const agency = `tools-${++agencyCount}`;
  await run("agency", "new", agency);
  for (const name of ["alice", "bob"]) await run("new", `${name}@${agency}`, "-m", "scripted:caller");
  const ask = async (name: string, message: string) =>
    (await runJson("serve", `${name}@${agency}`, message)).content as string;
  return { agency, inAgency: ["-a", `@${agency}`], ask };
}

const write = (file: string, text: string) => writeFile(join(folder, file), text);

test("a module becomes a tool of all agents of an agency, and is taken away again", async () => {
  const { agency, inAgency, ask } = await openAgency();
  await write("suffix.ts", "export const suffix = (city: string): string => `${city} is sunny.`;");
  await write(
    "get-weather.ts",
    `import { suffix } from "./suffix.ts";
    export const description = "Tells the weather of a city.";
    export const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    export default async ({ city }: { city: string }) => ({ report: suffix(city) });`,
  );
  expect(await run("tool", "ls", `@${agency}`)).toMatch(/^No tools were given to the agents of tools-\d+\./);
  expect(await run("tool", "add", "get-weather.ts", ...inAgency)).toBe(
    `Gave get_weather to the agents of ${agency}. It is offered from the next turn on.\n`,
  );
  expect(await run("tool", "ls", `@${agency}`)).toMatch(
    /^NAME +KIND +AGENT +BY +SINCE +DESCRIPTION\nget_weather +code +all +owner +\d\d:\d\d +Tells the weather of a city\.\n$/,
  );
  const { tools } = await runJson("tool", "ls", `alice@${agency}`);
  expect(tools).toContainEqual(expect.objectContaining({ name: "get_weather", source: "agency", offered: true }));
  expect(await ask("bob", "weather")).toContain("Paris is sunny.");
  await expectError(["tool", "rm", "get_weather", ...inAgency], 2, "Pass --yes to confirm");
  expect(await run("tool", "rm", "get_weather", "--yes", ...inAgency)).toBe("Took get_weather away.\n");
  expect(await ask("bob", "weather")).not.toContain("Paris is sunny.");
}, 30_000);

test("all tools of a module are imported, also for one agent", async () => {
  const { agency, inAgency, ask } = await openAgency();
  await write(
    "tools.mjs",
    `const number = { type: "number" };
    const parameters = { type: "object", properties: { a: number, b: number } };
    export const add = { description: "Adds.", parameters, execute: ({ a, b }) => a + b };
    export const subtract = { description: "Subtracts.", parameters, execute: ({ a, b }) => a - b };`,
  );
  await expectError(["tool", "add", "tools.mjs", ...inAgency], 2, "has several tools: add, subtract. Add all with");
  const { tools } = await runJson("tool", "import", "tools.mjs", "--agent", "@alice", ...inAgency);
  expect(tools).toMatchObject([
    { name: "add", kind: "code", agent: "alice" },
    { name: "subtract", agent: "alice" },
  ]);
  expect(await ask("alice", "add")).toBe("5");
  expect(await ask("bob", "add")).not.toBe("5");
  expect(await run("tool", "ls", `@${agency}`)).toMatch(/\nadd +code +alice /);
}, 30_000);

test("a mock takes the place of a tool until it is removed", async () => {
  const { agency, inAgency, ask } = await openAgency();
  await write("result.json", '{ "title": "mocked" }');
  expect(await run("tool", "mock", "set_title", "@result.json", "--agent", "alice", ...inAgency)).toBe(
    "Gave set_title to alice. It is offered from the next turn on.\n",
  );
  expect(await ask("alice", "title")).toContain("mocked");
  expect(await ask("bob", "title")).not.toContain("mocked");
  expect(await run("tool", "ls", `alice@${agency}`)).toMatch(/\nset_title +mock/);
  await run("tool", "rm", "set_title", "--agent", "alice", "--yes", ...inAgency);
  expect(await ask("alice", "title")).not.toContain("mocked");
}, 30_000);

test("a webhook is stored with its description and the schema of its input", async () => {
  const { agency, inAgency } = await openAgency();
  await write("lookup.json", '{ "type": "object", "properties": { "id": { "type": "number" } } }');
  const args = ["--url", "https://example.com/lookup", "--description", "Finds a customer."];
  const added = await runJson("tool", "add", "lookup", ...args, "--parameters", "@lookup.json", ...inAgency);
  expect(added).toMatchObject({ name: "lookup", kind: "webhook", description: "Finds a customer." });
  expect(await run("tool", "ls", `bob@${agency}`)).toMatch(/\nlookup +agency +yes +Finds a customer\.\n/);
});

test("what is wrong with a tool is said before anything is stored", async () => {
  const { inAgency } = await openAgency();
  await write("empty.ts", "export const a = 1;");
  await expectError(["tool", "add", "empty.ts", ...inAgency], 2, "empty.ts has no tool. Export a description");
  await expectError(["tool", "add", "missing.ts", ...inAgency], 2, "missing.ts");
  await expectError(["tool", "add", "lookup", ...inAgency], 2, "“lookup” is no module (.ts, .mts, .js, .mjs).");
  await expectError(["tool", "add", "lookup", "--url", "http://x.example", ...inAgency], 2, "needs --description");
  await expectError(["tool", "add", "empty.ts", "--description", "x", ...inAgency], 2, "require --url");
  await expectError(["tool", "mock", "set_title", "not json", ...inAgency], 2, "Expected the result as JSON");
  await expectError(["tool", "mock", "a b", "1", ...inAgency], 2, /letters, digits/);
  await expectError(["tool", "mock", "x", "1", "-a", "@tools-0"], 1, "Agency “tools-0” not found.");
  await expectError(["tool", "rm", "nothing", "--yes", ...inAgency], 1, /nothing/);
  expect((await runJson("tool", "ls", inAgency[1] ?? "")).tools).toEqual([]);
});
