import { join, relative, resolve } from "node:path";
import { fail, maxBundleChars, maxSourceMapChars } from "@thinkery/sdk";
import type { BuildContext, BuildFailure, BuildOptions, BuildResult } from "esbuild";
import { formatSize } from "../files/format.ts";
import { createBuildError, formatWarnings, isDependency } from "./build-messages.ts";
import { createImportGuard } from "./guard-imports.ts";
import { createChainFinder } from "./import-chain.ts";
import { sdkImport } from "./import-sdk.ts";
import { createLoadError, type Esbuild, loadEsbuild } from "./load-esbuild.ts";
import { findNodeGlobals } from "./node-globals.ts";
import type { AgentPackage } from "./read-package.ts";
import { sandboxBuild } from "./sandbox-build.ts";

export interface Bundle {
  code: string;
  /** Undefined if it is too large. */
  sourceMap: string | undefined;
  warnings: string[];
  /** The source files outside of node_modules, relative to the package. */
  files: string[];
}

export interface Bundler {
  /** Bundles what the files contain now. After the first time, only what changed is read again. */
  bundle(): Promise<Bundle>;
  close(): Promise<void>;
}

type Source = Pick<AgentPackage, "folder" | "entry">;

/** Never written; it only has to be in the folder, so that the source map names files relative to it. */
const outName = "agent.bundle.js";

const createOptions = ({ folder, entry }: Source) =>
  ({
    ...sandboxBuild,
    absWorkingDir: folder,
    entryPoints: [entry],
    outfile: join(folder, outName),
    plugins: [createImportGuard({ reports: true }), sdkImport],
    keepNames: true,
    sourcemap: "external",
    sourcesContent: false,
    logOverride: { "unsupported-dynamic-import": "warning", "unsupported-require-call": "warning" },
  }) satisfies BuildOptions;

/** Creates a bundler for a package. `dir` is its folder as the user wrote it, for messages. */
export async function createBundler(source: Source, dir: string): Promise<Bundler> {
  const esbuild = await loadEsbuild();
  const options = createOptions(source);
  const formatFile = (file: string) => join(dir, file).replace(/^\.$/, "");
  const context = await createContext(esbuild, options);

  return {
    async bundle() {
      const result = await context.rebuild().catch(async (error: Error) => {
        const { errors } = error as BuildFailure;
        if (!errors) throw fail("internal", `The agent cannot be bundled: ${error.message}`);
        const needsChain = errors.some(({ location }) => isDependency(location));
        const findChain = needsChain ? await createChainFinder(esbuild.build, options) : undefined;
        throw await createBuildError(errors, { formatFile, ...(findChain ? { findChain } : {}) });
      });
      return toBundle(esbuild, source, result, formatFile);
    },
    close: () => context.dispose(),
  };
}

type Options = ReturnType<typeof createOptions>;

async function createContext(esbuild: Esbuild, options: Options): Promise<BuildContext<Options>> {
  try {
    return await esbuild.context(options);
  } catch (error) {
    throw createLoadError(error);
  }
}

type Result = BuildResult<{ metafile: true; write: false }>;

async function toBundle(
  esbuild: Esbuild,
  { folder, entry }: Source,
  { metafile, outputFiles, warnings }: Result,
  formatFile: (file: string) => string,
): Promise<Bundle> {
  const code = outputFiles.find(({ path }) => path.endsWith(".js"))?.text ?? "";
  const sourceMap = outputFiles.find(({ path }) => path.endsWith(".map"))?.text ?? "";
  const output = metafile.outputs[outName];
  if (!output?.exports.includes("default"))
    throw fail(
      "bad_request",
      `${formatFile(entry)} has no default export. Write export default defineAgent({ onMessage(message, ctx) { … } }).`,
    );
  if (code.length > maxBundleChars) throw createSizeError(code.length, maxBundleChars, output.inputs);
  const files = Object.keys(metafile.inputs).filter((file) => !/(?:^|\/)node_modules\/|^[\w()-]{2,}:/.test(file));
  // Dependencies that support several module systems look whether there is a require().
  const relevant = warnings.filter(({ id, location }) => id !== "unsupported-require-call" || !isDependency(location));
  const messages = [...relevant, ...(await findNodeGlobals(esbuild.transform, folder, files))];
  const isMapTooLarge = sourceMap.length > maxSourceMapChars;
  return {
    code,
    sourceMap: isMapTooLarge ? undefined : sourceMap,
    warnings: [
      ...(await formatWarnings(messages, { formatFile })),
      ...(isMapTooLarge ? ["The source map is too large, so errors of the agent name positions in its bundle."] : []),
    ],
    files: files.map((file) => relative(folder, resolve(folder, file))),
  };
}

const maxListed = 5;

export function createSizeError(
  chars: number,
  maxChars: number,
  inputs: Record<string, { bytesInOutput: number }>,
): Error {
  const sizes = new Map<string, number>();
  for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
    // The package that the file belongs to, or else the file.
    const name = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? file;
    sizes.set(name, (sizes.get(name) ?? 0) + bytesInOutput);
  }
  const largest = [...sizes].toSorted(([, a], [, b]) => b - a).slice(0, maxListed);
  const list = largest.map(([name, bytes]) => `${name} (${formatSize(bytes)})`).join(", ");
  return fail(
    "bad_request",
    `The bundle is too large: ${formatSize(chars)}, at most ${formatSize(maxChars)}. Most of it: ${list}.`,
  );
}
