import type { RunHost } from "../run.ts";
// oxlint-disable-next-line import/default -- the bundle of the file, as text
import harness from "./harness/harness.ts?text";
import type { AppSettings, RunSettings } from "./harness/settings.ts";
import { codeName } from "./names.ts";
import type { PreparedCode } from "./source.ts";

const entrySource = `import { WorkerEntrypoint } from "cloudflare:workers";
import settings from "/thinkery/settings.json";
import { run, serve } from "/thinkery/harness.js";
export default class extends WorkerEntrypoint {
  run(host) {
    return run(settings, host);
  }
  serve(request, host) {
    return serve(settings, request, host);
  }
}
`;

/** For every isolate: no Node.js APIs, no bindings, no network. */
export const isolateDefaults = {
  compatibilityDate: "2026-10-01",
  compatibilityFlags: ["no_nodejs_compat", "no_nodejs_compat_v2"],
  env: {},
  globalOutbound: null,
};

/** The RPC interface of an isolate. */
export interface IsolateEntrypoint {
  run(host: RunHost): Promise<unknown>;
  serve(request: Request, host: RunHost): Promise<Response>;
}

/** Creates an isolate with the user's code and the harness. */
export function createIsolateCode(
  { modules, columnMaps }: PreparedCode,
  settings: Omit<RunSettings, "columnMaps" | "names"> | Omit<AppSettings, "columnMaps" | "names">,
): WorkerLoaderWorkerCode {
  const names = Object.keys(modules).filter((name) => name !== codeName);
  return {
    ...isolateDefaults,
    mainModule: "thinkery/entry.js",
    modules: {
      ...modules,
      "thinkery/entry.js": { js: entrySource },
      "thinkery/harness.js": { js: harness },
      "thinkery/settings.json": { json: { ...settings, columnMaps, names } },
    },
  };
}

/** Creates the isolate that strips types, see stripper.ts. */
export async function createStripperCode(): Promise<WorkerLoaderWorkerCode> {
  // oxlint-disable-next-line import/default -- the bundle of the file, as text
  const { default: stripper } = await import("./stripper/stripper.ts?text");
  return { ...isolateDefaults, mainModule: "stripper.js", modules: { "stripper.js": { js: stripper } } };
}

/** Creates the isolate of a shell, see shell.ts. */
export async function createShellCode(): Promise<WorkerLoaderWorkerCode> {
  // oxlint-disable-next-line import/default -- the bundle of the file, packed
  const { default: packed } = await import("./shell/shell.ts?packed");
  return { ...isolateDefaults, mainModule: "shell.js", modules: { "shell.js": { js: await unpackBundle(packed) } } };
}

function unpackBundle(base64: string): Promise<string> {
  const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}
