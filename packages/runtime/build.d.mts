import type { BuildOptions, BuildResult, Plugin } from "esbuild";

export { stop } from "esbuild";

export const version: string;

type Settings = Pick<BuildOptions, "absWorkingDir" | "logLevel" | "minifySyntax" | "minifyWhitespace" | "write">;

export function buildWorker<Given extends Settings>(
  entry: string,
  outdir: string,
  options?: Given & { name?: string },
): Promise<BuildResult<Given & { metafile: true }>>;

export const oneLocale: Plugin;

export function bundleAlone(entry: string): Promise<BuildResult<{ write: false; metafile: true }>>;
