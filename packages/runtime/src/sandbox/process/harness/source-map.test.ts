import { build } from "esbuild";
import { expect, test } from "vitest";
import { createSourceMap } from "./source-map.ts";

test("positions in a bundle lead to the author's files", async () => {
  const source = 'export function fail(what: string): never {\n  // A comment.\n  throw new Error("no " + what);\n}\n';
  const { outputFiles } = await build({
    stdin: {
      contents: 'import { fail } from "./fail";\nexport default () => fail("x");',
      sourcefile: "src/main.ts",
      loader: "ts",
    },
    bundle: true,
    format: "esm",
    write: false,
    outdir: "/out",
    sourcemap: "external",
    plugins: [
      {
        name: "files",
        setup(bundler) {
          bundler.onResolve({ filter: /fail/ }, () => ({ path: "src/fail.ts", namespace: "test" }));
          bundler.onLoad({ filter: /./, namespace: "test" }, () => ({ contents: source, loader: "ts" }));
        },
      },
    ],
  });
  const [map, code] = outputFiles.map(({ text }) => text) as [string, string];
  const find = createSourceMap(map);
  const lines = code.split("\n");
  const line = lines.findIndex((text) => text.includes("throw new Error")) + 1;
  expect(find(line, (lines[line - 1] as string).indexOf("throw") + 1)).toEqual({
    source: expect.stringContaining("src/fail.ts"),
    line: 3,
    column: 3,
  });
});

test("a map that is none explains nothing", () => {
  for (const text of ["", "{", "{}", '{"mappings": 1, "sources": []}', '{"mappings": "!!", "sources": []}'])
    expect(createSourceMap(text)(1, 1)).toBeUndefined();
});
