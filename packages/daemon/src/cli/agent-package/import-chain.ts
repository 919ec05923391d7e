import type { BuildOptions, Metafile, Plugin } from "esbuild";
import { createImportGuard } from "./guard-imports.ts";
import { sdkImport } from "./import-sdk.ts";

type Build = typeof import("esbuild").build;

/** Returns which imports lead from the agent to a file. Only for failed builds: it builds again, without errors. */
export async function createChainFinder(build: Build, options: BuildOptions): Promise<(file: string) => string[]> {
  const result = await build({
    ...options,
    plugins: [createImportGuard({ reports: false }), missingImports, sdkImport],
    metafile: true,
    write: false,
    sourcemap: false,
    logLevel: "silent",
  }).catch(() => undefined);
  // Other errors prevented it.
  if (!result) return () => [];
  const { inputs, outputs } = result.metafile;
  const parents = findParents(inputs, Object.values(outputs)[0]?.entryPoint ?? "");
  return (file) => {
    const chain = [file];
    for (let parent = parents.get(file); parent !== undefined; parent = parents.get(parent)) chain.unshift(parent);
    return chain;
  };
}

const isResolving = {};

/** Leaves out what cannot be resolved. */
const missingImports: Plugin = {
  name: "missing-imports",
  setup(build) {
    build.onResolve({ filter: /./ }, async ({ path, pluginData, ...args }) => {
      // A plugin's own question.
      if (pluginData !== undefined) return undefined;
      const { errors } = await build.resolve(path, { ...args, pluginData: isResolving });
      return errors.length > 0 ? { path, external: true } : undefined;
    });
  },
};

/** Walks breadth-first from the entry, so that the chains are the shortest ones. */
function findParents(inputs: Metafile["inputs"], entry: string): Map<string, string> {
  const parents = new Map<string, string>();
  // Iterating a set includes entries added meanwhile.
  const files = new Set([entry]);
  for (const file of files) {
    for (const { path } of inputs[file]?.imports ?? []) {
      if (files.has(path)) continue;
      parents.set(path, file);
      files.add(path);
    }
  }
  return parents;
}
