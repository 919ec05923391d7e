import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { OnResolveArgs, OnResolveResult, Plugin, PluginBuild } from "esbuild";
import { blockedPattern, explainBlocked, purePackages, toBuiltinName } from "./blocked-modules.ts";

interface GuardOptions {
  /** Whether blocked modules are errors. Otherwise they are left out, so that the other imports can be seen. */
  reports: boolean;
  /** Returns why a module cannot be imported, if so. */
  explain?(specifier: string): string | undefined;
}

const emptyNamespace = "thinkery-empty";
/** Marks imports that esbuild resolves on its own. */
const unguarded = {};

/** Keeps what an agent's sandbox does not have out of its bundle. esbuild adds the position to each error. */
export const createImportGuard = ({ reports, explain = explainBlocked }: GuardOptions): Plugin => ({
  name: "guard-imports",
  setup(build) {
    build.onResolve({ filter: blockedPattern }, async (args) => {
      if (args.pluginData === unguarded) return undefined;
      const reason = explain(args.path);
      if (!reason) return undefined;
      const replacement = await findReplacement(build, args);
      if (replacement) return replacement;
      return reports ? { errors: [{ text: reason }] } : { path: args.path, external: true };
    });
    build.onLoad({ filter: /./, namespace: emptyNamespace }, () => ({ contents: "module.exports = {};" }));
  },
});

/** Returns what stands for a module of Node.js: a pure package of that name, or what the importing package says. */
async function findReplacement(build: PluginBuild, args: OnResolveArgs): Promise<OnResolveResult | undefined> {
  const name = toBuiltinName(args.path);
  if (name === undefined) return undefined;
  const { kind, importer } = args;
  const options = { kind, importer, pluginData: unguarded };
  const choice = findBrowserChoice(args);
  if (choice?.target === false) return { path: args.path, namespace: emptyNamespace };
  const [specifier, resolveDir] =
    choice?.target === undefined
      ? [purePackages.has(name) && args.path === name ? name : undefined, args.resolveDir]
      : [choice.target, choice.folder];
  if (specifier === undefined) return undefined;
  const found = await build.resolve(specifier, { ...options, resolveDir });
  return found.errors.length > 0 || found.external ? undefined : found;
}

/** Returns what a dependency uses in browsers in place of a module: the field `browser` of its package.json. */
function findBrowserChoice({
  path,
  importer,
}: OnResolveArgs): { target: string | false | undefined; folder: string } | undefined {
  if (!/[\\/]node_modules[\\/]/.test(importer)) return undefined;
  for (let folder = dirname(importer); dirname(folder) !== folder; folder = dirname(folder)) {
    const browser = readBrowserField(join(folder, "package.json"));
    if (browser !== undefined) return { target: browser[path], folder: resolve(folder) };
  }
  return undefined;
}

function readBrowserField(file: string): Record<string, string | false> | undefined {
  try {
    const { name, browser } = JSON.parse(readFileSync(file, "utf8")) as { name?: unknown; browser?: unknown };
    // Folders inside a package may have a package.json that only says what kind of modules they contain.
    if (typeof name !== "string") return undefined;
    return typeof browser === "object" && browser !== null ? (browser as Record<string, string | false>) : {};
  } catch {
    return undefined;
  }
}
