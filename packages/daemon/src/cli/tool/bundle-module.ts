import { basename, dirname, resolve } from "node:path";
import { fail } from "@thinkery/sdk";
import type { BuildFailure, BuildResult } from "esbuild";
import { explainBlocked } from "../agent-package/blocked-modules.ts";
import { createBuildError, formatWarnings } from "../agent-package/build-messages.ts";
import { createSizeError } from "../agent-package/bundle.ts";
import { createImportGuard } from "../agent-package/guard-imports.ts";
import { createLoadError, type Esbuild, loadEsbuild } from "../agent-package/load-esbuild.ts";
import { sandboxBuild } from "../agent-package/sandbox-build.ts";
import type { Cli } from "../cli.ts";

/** What a tool may have is stored in one request, and loaded into one sandbox. */
const maxChars = 900_000;

/** Bundles a module of tools with everything it imports into one ES module. */
export async function bundleModule(cli: Cli, file: string): Promise<string> {
  const esbuild = await loadEsbuild();
  const path = resolve(cli.cwd, file);
  const format = { formatFile: (name: string) => (name === basename(path) ? file : name) };
  const result = await build(esbuild, path).catch(async (error: Error) => {
    const { errors } = error as BuildFailure;
    throw errors ? await createBuildError(errors, format) : createLoadError(error);
  });
  for (const warning of await formatWarnings(result.warnings, format)) cli.output.writeMessage(`Warning: ${warning}`);
  const code = result.outputFiles[0]?.text ?? "";
  const inputs = Object.values(result.metafile.outputs)[0]?.inputs ?? {};
  if (code.length > maxChars) throw createSizeError(code.length, maxChars, inputs);
  if (code.trim() === "") throw fail("bad_request", `${file} is empty.`);
  return code;
}

function build({ build }: Esbuild, path: string): Promise<BuildResult<{ metafile: true; write: false }>> {
  return build({
    ...sandboxBuild,
    absWorkingDir: dirname(path),
    entryPoints: [path],
    plugins: [createImportGuard({ reports: true, explain })],
  });
}

function explain(specifier: string): string | undefined {
  if (!explainBlocked(specifier)) return undefined;
  return `Tools cannot import “${specifier}”: they run in a sandbox with the Web’s globals and with tools, fetch, fs and bash.`;
}
