import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isThinkeryError } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { createTempFolder } from "../../host/fixture.ts";
import type { Cli } from "../cli.ts";
import { readModuleTools, toToolName } from "./module-tools.ts";

const weather = `
  import { round } from "./round.ts";
  export const description = "Tells the weather.";
  export const parameters = { type: "object", properties: { city: { type: "string" } } };
  export default async ({ city }: { city: string }) => city + round(1.4);
`;

function read(code: string, file = "get-weather.ts") {
  const cwd = createTempFolder();
  writeFileSync(join(cwd, file), code);
  writeFileSync(join(cwd, "round.ts"), "export const round = (value: number): number => Math.round(value);");
  const warnings: string[] = [];
  const cli = { cwd, output: { writeMessage: (line: string) => warnings.push(line) } } as unknown as Cli;
  return readModuleTools(cli, file);
}

const getError = (code: string) =>
  read(code).then(
    () => "accepted",
    (error: unknown) => {
      if (isThinkeryError(error) && error.code === "bad_request") return error.message;
      throw error;
    },
  );

/** Runs the code of a tool as the sandbox does. */
async function call(tool: Awaited<ReturnType<typeof read>>[number] | undefined, input: unknown): Promise<unknown> {
  const url = `data:text/javascript,${encodeURIComponent(tool?.modules?.["module.js"] ?? "")}`;
  const [, name = "", body = ""] =
    /^import \{ (\w+) as tool \} from ".\/module\.js";\n(.*)$/s.exec(tool?.code ?? "") ?? [];
  const module = (await import(/* @vite-ignore */ url)) as Record<string, unknown>;
  const run = new Function("tool", "input", `return (async () => { ${body} })();`) as (...args: unknown[]) => unknown;
  return run(module[name], input);
}

test("a default function is a tool with what its module says about it, in one module with its imports", async () => {
  const [tool, ...others] = await read(weather);
  expect(others).toEqual([]);
  expect(tool).toMatchObject({
    name: "get_weather",
    description: "Tells the weather.",
    parameters: { type: "object", properties: { city: { type: "string" } } },
  });
  expect(await call(tool, { city: "Paris" })).toBe("Paris1");
});

test("objects with an execute are tools, named by themselves or by their exports", async () => {
  const tools = await read(`
    export const add = { description: "Adds.", inputSchema: { type: "object" }, execute: ({ a, b }) => a + b };
    export const other = { name: "subtract", description: "Subtracts.", base: 100, execute({ a }) { return this.base - a; } };
    export const limit = 5;
    export const helper = () => {};
  `);
  expect(tools.map(({ name }) => name)).toEqual(["add", "subtract"]);
  expect(tools[1]?.parameters).toEqual({ type: "object", properties: {}, additionalProperties: false });
  expect(await call(tools[0], { a: 1, b: 2 })).toBe(3);
  expect(await call(tools[1], { a: 1 })).toBe(99);
});

test("a schema that can convert itself becomes JSON schema", async () => {
  const [tool] = await read(`
    const inputSchema = { "~standard": { version: 1, jsonSchema: { input: ({ target }) => ({ type: "object", title: target }) } } };
    export default { name: "x", description: "X.", inputSchema, execute: () => 1 };
  `);
  expect(tool?.parameters).toEqual({ type: "object", title: "draft-2020-12" });
});

test.each([
  ["export const a = 1;", /get-weather\.ts has no tool\. Export a description, parameters/],
  ["export default () => 1;", /get-weather\.ts: the tool has no description/],
  ['export const description = "x"; export const name = "a b"; export default () => 1;', /invalid tool name “a b”/],
  [
    'export const description = "x"; export const parameters = { type: "string" }; export default () => 1;',
    /parameters must be the JSON schema of an object/,
  ],
  [
    'export const a = { description: "x", inputSchema: { "~standard": {} }, execute() {} };',
    /get-weather\.ts, a: its schema cannot be converted/,
  ],
  ['export const a = { name: "x", description: "x", execute() {} }; export const b = a;', /has two tools named x/],
  ['import "node:fs"; export default 1;', /Tools cannot import “node:fs”: they run in a sandbox/],
  ['import "./missing.ts";', /get-weather\.ts:1:\d+: There is no file “\.\/missing\.ts”/],
  ["export default {", /get-weather\.ts:1:\d+: /],
  ['throw new TypeError("no");', /fails when it is loaded: TypeError: no/],
  ["process.exit(0);", /ends the process when it is loaded/],
  ["", /is empty/],
])("%s is refused with what to do", async (code, message) => {
  expect(await getError(code)).toMatch(message);
});

test("what a module prints while it is loaded does not reach our output", async () => {
  const code = `console.log("noise"); ${weather}`;
  const [tool] = await read(code);
  expect(tool?.name).toBe("get_weather");
});

test("the environment of this program is not readable by a module that is loaded", async () => {
  process.env.THINKERY_TEST_SECRET = "s3cret";
  const [tool] = await read(
    'export const name = "x"; export const description = "d:" + globalThis.process?.env.THINKERY_TEST_SECRET; export default () => 1;',
  );
  expect(tool?.description).toBe("d:undefined");
});

test("a file name becomes the name of a tool", () => {
  expect(["a/get-weather.ts", "x.y.mjs", "-odd-.js"].map(toToolName)).toEqual(["get_weather", "x_y", "odd"]);
});
