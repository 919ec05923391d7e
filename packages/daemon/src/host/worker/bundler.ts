import { createRequire } from "node:module";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { fail } from "@thinkery/sdk";

/**
 * The part of `@thinkery/runtime/build` used here. It is resolved from the Worker's folder and not bundled into the
 * daemon.
 */
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

/** Loads the bundler from the Worker's own packages; `version` is the host's. */
export async function findBundler(entry: string, version: string): Promise<Bundler> {
  const bundler = (await import(pathToFileURL(locateBundler(entry)).href)) as Bundler;
  const [ours] = version.split("+");
  // Bindings and sockets between the host and the runtime are not a stable interface.
  if (bundler.version !== ours) {
    throw fail(
      "bad_request",
      `The Worker uses ${name} ${bundler.version}, but this is thinkery ${ours}. Install the same version of both.`,
    );
  }
  return bundler;
}

function locateBundler(entry: string): string {
  try {
    return createRequire(entry).resolve(`${name}/build`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const issue = code === "MODULE_NOT_FOUND" ? "Cannot find" : `Cannot load (${code})`;
    throw fail("bad_request", `${issue} ${name} from ${dirname(entry)}. Run \`npm install ${name}\` there.`);
  }
}
