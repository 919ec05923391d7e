import { expect, test } from "vitest";
import type { Cli } from "../cli.ts";
import { createPackageFolder, createPackageJson } from "./fixture.ts";
import { explainInvalidName, suggestName } from "./package-name.ts";
import { resolvePackageTarget } from "./package-target.ts";
import { readPackage } from "./read-package.ts";

async function readText(text: string) {
  const { folder } = createPackageFolder({ "package.json": text, "src/agent.ts": "" });
  return readPackage(folder, ".");
}

/** Returns all errors of a package.json, as they are shown. */
const getErrors = (text: string): Promise<string[]> =>
  readText(text).then(
    () => [],
    ({ message, details }: { message: string; details?: { issues: { path: string[]; message: string }[] } }) =>
      details ? details.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`) : [message],
  );

const getManifestErrors = (thinkery: object) => getErrors(createPackageJson({}, thinkery));

test("a package is read, and its agent is named without the scope", async () => {
  const settings = { loud: { type: "toggle" } };
  const found = await readText(
    createPackageJson(
      { name: "@team/helper", description: "Helps.", version: "1.0.0" },
      { capabilities: ["ai"], settings },
    ),
  );
  expect(found).toMatchObject({
    name: "helper",
    description: "Helps.",
    entry: "src/agent.ts",
    manifest: { type: "agent", runtime: "isolate", capabilities: ["ai"], settings },
  });
  expect((await readText(createPackageJson())).manifest.capabilities).toEqual([]);
});

test("a folder without a package, and text that is not JSON, are errors", async () => {
  const { folder } = createPackageFolder({});
  await expect(readPackage(folder, "nowhere")).rejects.toThrow("“nowhere” has no package.json.");
  await expect(readPackage(folder, "package.json")).rejects.toThrow("has no package.json");
  expect(await getErrors('{\n  "name": "a"\n  "main": 1\n}')).toEqual([
    "package.json, line 3, column 3: invalid JSON (comma expected).",
  ]);
  expect(await getErrors("")).toEqual([expect.stringContaining("package.json, line 1, column 1: invalid JSON")]);
  expect(await getErrors("[]")).toEqual(["package.json: expected an object, { … }."]);
});

test("each error has its path and its position, the first one the file, too", async () => {
  const text =
    '{\n  "name": "hello",\n  "main": "src/none.ts",\n  "thinkery": { "type": "app", "runtime": "workerd" }\n}';
  expect(await getErrors(text)).toEqual([
    "main: there is no file “src/none.ts” (line 3, column 11)",
    'thinkery.type: expected "agent" (line 4, column 25)',
    'thinkery.runtime: expected "isolate" (line 4, column 43)',
  ]);
  await expect(readText(text)).rejects.toMatchObject({
    code: "bad_request",
    message: "package.json: main: there is no file “src/none.ts” (line 3, column 11)",
  });
});

test.each([
  [{ name: undefined }, "name: expected a name"],
  [{ name: "Größe" }, "change it to “Gro-e”"],
  [{ name: "@team/-x-" }, "change it to “@team/x”"],
  [{ name: "agency" }, "change it to “my-agency”"],
  [{ name: "" }, "the agent cannot be named “”"],
  [{ main: undefined }, "main: expected the agent’s module"],
  [{ main: "../agent.ts" }, "main: “../agent.ts” is outside the package"],
  [{ main: "src" }, "main: expected a file that ends in .ts, .mts, .js, .mjs"],
])("%o is an error", async (fields, message) => {
  expect(await getErrors(createPackageJson(fields))).toEqual([expect.stringContaining(message)]);
});

test.each([
  [{ capabilites: [] }, "thinkery.capabilites: unknown key; did you mean “capabilities”?"],
  [{ permissions: [] }, "thinkery.permissions: unknown key; known keys: type, runtime, displayName, capabilities"],
  [{ capabilities: "ai" }, "thinkery.capabilities: Invalid input: expected array"],
  [{ capabilities: ["ai", "net"] }, 'thinkery.capabilities.1: unknown capability "net"; there are ai, tools'],
  [{ capabilities: ["ai", "ai"] }, "thinkery.capabilities: names a capability twice"],
  [{ displayName: 1 }, "thinkery.displayName: Invalid input: expected string"],
  [{ settings: { "a b": { type: "text" } } }, "thinkery.settings.a b: expected a name of letters"],
  [{ settings: { a: { type: "slider" } } }, "thinkery.settings.a.type: "],
  [{ settings: { a: { type: "number", mn: 1 } } }, "thinkery.settings.a.mn: unknown key; did you mean “min”?"],
  [
    { settings: { a: { type: "number", max: 1, default: 2 } } },
    "thinkery.settings.a.default: expected at most 1, not 2",
  ],
])("the manifest %o is an error", async (thinkery, message) => {
  expect(await getManifestErrors(thinkery)).toEqual([expect.stringContaining(message)]);
});

test("a package without a manifest says what to add", async () => {
  expect(await getErrors('{ "name": "hello", "main": "src/agent.ts" }')).toEqual([
    expect.stringContaining('thinkery: missing; add "thinkery": { "type": "agent"'),
  ]);
});

test("suggested names are valid, whatever they are made from", () => {
  for (const text of ["hello", "Größe!", "-a-", "sub", "x".repeat(100), "a b/c", ".hidden", "ÄÖÜ"])
    expect([text, explainInvalidName(suggestName(text))]).toEqual([text, undefined]);
  expect(suggestName("日本")).toBe("");
});

test("a package is meant by its folder or by its name; other folders are not", async () => {
  const { folder, write } = createPackageFolder({});
  write("agent/package.json", createPackageJson({ name: "@team/helper" }));
  write("alice/package.json", '{ "name": "website" }');
  const cli = { cwd: folder, env: {} } as unknown as Cli;
  const resolve = (text: string, agency?: string) =>
    resolvePackageTarget(cli, text, agency === undefined ? {} : { agency }).then(
      (target) => `${target.agent}@${target.agency}`,
      (error: Error) => error.message,
    );
  expect(await resolve("agent")).toBe("helper@global");
  expect(await resolve("./agent/", "review")).toBe("helper@review");
  expect(await resolve("alice")).toBe("alice@global");
  expect(await resolve("./alice")).toBe("website@global");
  expect(await resolve("helper", "review")).toBe("helper@review");
  expect(await resolve("helper@review", "other")).toBe("helper@review");
  expect(await resolve("alice/helper")).toBe("alice/helper@global");
  expect(await resolve("./none")).toContain("“./none” has no package.json");
  write("agent/package.json", "{");
  expect(await resolve("agent")).toContain("is not valid JSON");
});
