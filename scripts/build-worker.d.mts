import type { BuildResult } from "esbuild";

export function buildWorker(entry: string, outdir: string, name?: string): Promise<BuildResult>;
