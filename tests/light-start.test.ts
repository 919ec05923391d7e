import { fileURLToPath } from "node:url";
import { build, type Metafile } from "esbuild";
import { beforeAll, expect, test } from "vitest";

// Loading zod or esbuild takes longer than most commands run, so each is loaded only when there is something to
// validate or to bundle.

const root = fileURLToPath(new URL("..", import.meta.url));

const isZod = (path: string) => path.includes("node_modules/zod/");

let inputs: Metafile["inputs"];
let outputs: Metafile["outputs"];

beforeAll(async () => {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ["packages/daemon/src/main.ts"],
    outdir: "unwritten",
    write: false,
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    mainFields: ["module", "main"],
    external: ["workerd", "esbuild"],
    metafile: true,
  });
  ({ inputs, outputs } = metafile);
});

/** Lists the outputs that are loaded before this module runs. */
function listLoadedOutputs(module: string): string[] {
  const first = Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === module);
  expect([module, first.length]).toEqual([module, 1]);
  const loaded = new Set(first);
  // Iterating a set includes entries added meanwhile.
  for (const path of loaded) {
    for (const { kind, path: next } of outputs[path]?.imports ?? [])
      if (kind === "import-statement" && outputs[next]) loaded.add(next);
  }
  return [...loaded];
}

/** Lists the sources that are loaded before this module runs. */
function listLoadedModules(module: string): string[] {
  return listLoadedOutputs(module).flatMap((path) => {
    const sources = Object.entries(outputs[path]?.inputs ?? {});
    return sources.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([source]) => source);
  });
}

test.each(["main.ts", "host/host.ts", "cli/foreground.ts"])("%s starts without zod", (module) => {
  const sources = listLoadedModules(`packages/daemon/src/${module}`);
  expect(sources).toContain("packages/sdk/src/protocol/errors.ts");
  // The failure lists the modules that import zod, because those have to change.
  const importers = sources.filter(
    (source) =>
      !isZod(source) && inputs[source]?.imports.some(({ kind, path }) => kind !== "dynamic-import" && isZod(path)),
  );
  expect(sources.some(isZod) ? importers : []).toEqual([]);
});

test("only what bundles an agent loads esbuild", () => {
  const findImports = (paths: string[]) =>
    paths.flatMap((path) => (outputs[path]?.imports ?? []).filter((imported) => imported.path === "esbuild"));
  expect(findImports(Object.keys(outputs)).map(({ kind }) => kind)).toEqual(["dynamic-import"]);
  expect(findImports(listLoadedOutputs("packages/daemon/src/main.ts"))).toEqual([]);
});
