import { fail } from "@thinkery/sdk";

export type Esbuild = typeof import("esbuild");

/** Loads the bundler, which takes longer than most commands run. */
export async function loadEsbuild(): Promise<Esbuild> {
  try {
    return await import("esbuild");
  } catch (error) {
    throw createLoadError(error);
  }
}

export function createLoadError(error: unknown): Error {
  const reason = (error as Error).message.trim().split("\n")[0]?.replace(/\.?$/, ".");
  return fail(
    "internal",
    `Cannot run esbuild, which bundles agents: ${reason} Run \`npm install\` in the folder of Thinkery, on this machine.`,
  );
}
