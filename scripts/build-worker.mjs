// One way to bundle code for workerd, shared by the build, the tests and the benchmarks.
import { join } from "node:path";
import { build } from "esbuild";
import { root } from "./root.mjs";

/** Bundles `entry` into `outdir/<name>.js` and chunks beside it that load on demand. */
export async function buildWorker(entry, outdir, name = "main") {
  return build({
    entryPoints: { [name]: entry },
    outdir,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "es2024",
    splitting: true,
    minifySyntax: true,
    minifyWhitespace: true,
    // The Agents SDK finds sub-agents by class name.
    keepNames: true,
    conditions: ["workerd", "worker", "browser", "import"],
    mainFields: ["module", "main"],
    external: ["node:*", "cloudflare:workers", "cloudflare:sockets"],
    alias: { "cloudflare:email": join(root, "packages/runtime/shims/cloudflare-email.js"), path: "node:path" },
    plugins: [oneLocale, lateMcpClient],
    metafile: true,
    logLevel: "warning",
  });
}

export const oneLocale = {
  name: "one-locale",
  setup(bundler) {
    bundler.onResolve({ filter: /\/locales\/index\.js$/ }, (args) =>
      args.resolveDir.includes("/zod/") ? { path: join(root, "packages/runtime/shims/zod-locales.js") } : undefined,
    );
  },
};

const lateMcpClient = {
  name: "late-mcp-client",
  setup(bundler) {
    const shim = join(root, "packages/runtime/shims/mcp-client.js");
    bundler.onResolve({ filter: /^@modelcontextprotocol\/client$/ }, (args) => (args.importer === shim ? undefined : { path: shim }));
  },
};
