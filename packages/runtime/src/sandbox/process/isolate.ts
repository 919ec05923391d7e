import type { RunHost } from "../run.ts";
// oxlint-disable-next-line import/default -- the bundle of the file, as text
import harness from "./harness/harness.ts?text";
import type { AppSettings, RunSettings } from "./harness/settings.ts";
import { codeName } from "./names.ts";
import type { PreparedCode } from "./source.ts";

/** The isolates that code is loaded into. */

const entrySource = `import { WorkerEntrypoint } from "cloudflare:workers";
import setting from "/thinkery/setting.json";
import { run, serve } from "/thinkery/harness.js";
export default class extends WorkerEntrypoint {
  run(host) {
    return run(setting, host);
  }
  serve(request, host) {
    return serve(setting, request, host);
  }
}
`;

/** Of every isolate: no Node in it, nothing bound to it, nowhere to go from it. */
const isolateDefaults = {
  compatibilityDate: "2026-10-01",
  compatibilityFlags: ["no_nodejs_compat", "no_nodejs_compat_v2"],
  env: {},
  globalOutbound: null,
};

/** What is inside an isolate, from outside. */
export interface IsolateEntrypoint {
  run(host: RunHost): Promise<unknown>;
  serve(request: Request, host: RunHost): Promise<Response>;
}

export function createIsolateCode(
  { modules, drifts }: PreparedCode,
  setting: Omit<RunSettings, "drifts" | "names"> | Omit<AppSettings, "drifts" | "names">,
): WorkerLoaderWorkerCode {
  const names = Object.keys(modules).filter((name) => name !== codeName);
  return {
    ...isolateDefaults,
    mainModule: "thinkery/entry.js",
    modules: {
      ...modules,
      "thinkery/entry.js": { js: entrySource },
      "thinkery/harness.js": { js: harness },
      "thinkery/setting.json": { json: { ...setting, drifts, names } },
    },
  };
}

/** For an isolate that knows TypeScript; see there. */
export async function createStripperCode(): Promise<WorkerLoaderWorkerCode> {
  // oxlint-disable-next-line import/default -- the bundle of the file, as text
  const { default: stripper } = await import("./stripper/stripper.ts?text");
  return { ...isolateDefaults, mainModule: "stripper.js", modules: { "stripper.js": { js: stripper } } };
}

/** For an isolate that is a shell; see there. */
export async function createShellCode(): Promise<WorkerLoaderWorkerCode> {
  // oxlint-disable-next-line import/default -- the bundle of the file, packed
  const { default: packed } = await import("./shell/shell.ts?packed");
  return { ...isolateDefaults, mainModule: "shell.js", modules: { "shell.js": { js: await unpackBundle(packed) } } };
}

function unpackBundle(base64: string): Promise<string> {
  const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}
