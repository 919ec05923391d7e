import { createRequire } from "node:module";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { fail } from "@thinkery/sdk";

/** What is used of `@thinkery/runtime/build`. It is taken from where the Worker lies, and is no part of the daemon. */
interface Bundler {
  version: string;
  buildWorker(entry: string, outdir: string, settings: object): Promise<BundleResult>;
  stop(): Promise<void>;
}

interface BundleResult {
  metafile: { inputs: Record<string, unknown>; outputs: Record<string, { exports: string[] }> };
  outputFiles: { path: string; contents: Uint8Array }[];
}

const name = "@thinkery/runtime";

/** The bundler that the Worker's own packages bring along; `version` is the host's. */
export async function findBundler(entry: string, version: string): Promise<Bundler> {
  const bundler = (await import(pathToFileURL(locateBundler(entry)).href)) as Bundler;
  const [ours] = version.split("+");
  // Bindings and sockets between the two are nobody's contract.
  if (bundler.version !== ours) {
    throw fail(
      "bad_request",
      `The Worker has ${name} ${bundler.version}, and this is thinkery ${ours}; install the same version of both.`,
    );
  }
  return bundler;
}

function locateBundler(entry: string): string {
  try {
    return createRequire(entry).resolve(`${name}/build`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const found = code === "MODULE_NOT_FOUND" ? "is not found from" : `cannot be used (${code}) from`;
    throw fail("bad_request", `${name} ${found} ${dirname(entry)}; install it there with \`npm install ${name}\`.`);
  }
}
