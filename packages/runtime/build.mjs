// Bundles code for workerd: for our own build, for tests and benchmarks, and for custom Workers.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { earlyAlarm } from "./shims/early-alarm.mjs";
import { justBash } from "./shims/just-bash.mjs";

/** Ends esbuild's service process; the next build starts a new one. */
export { stop } from "esbuild";

const resolvePath = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Version of this package; the daemon that runs the bundle must have the same version. */
export const { version } = JSON.parse(readFileSync(resolvePath("./package.json"), "utf8"));

/** Bundles `entry` into `outdir/<name>.js` and chunks that are loaded on demand. */
export async function buildWorker(entry, outdir, { name = "main", ...settings } = {}) {
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
    alias: { "cloudflare:email": resolvePath("./shims/cloudflare-email.js"), path: "node:path" },
    plugins: [oneLocale, lateMcpClient, earlyAlarm, bundledText],
    metafile: true,
    logLevel: "warning",
    ...settings,
  });
}

export const oneLocale = {
  name: "one-locale",
  setup(bundler) {
    bundler.onResolve({ filter: /\/locales\/index\.js$/ }, (args) =>
      args.resolveDir.includes("/zod/") ? { path: resolvePath("./shims/zod-locales.js") } : undefined,
    );
  },
};

const lateMcpClient = {
  name: "late-mcp-client",
  setup(bundler) {
    const shim = resolvePath("./shims/mcp-client.js");
    bundler.onResolve({ filter: /^@modelcontextprotocol\/client$/ }, (args) =>
      args.importer === shim ? undefined : { path: shim },
    );
  },
};

/**
 * `import code from "./x.ts?text"` imports the bundle of `x.ts` as text, for Workers that load other Workers. With
 * `?packed` it is gzip in base64, so that large and rarely needed code slows down the start less.
 */
const bundledText = {
  name: "bundled-text",
  setup(bundler) {
    bundler.onResolve({ filter: /\?(?:text|packed)$/ }, ({ path, resolveDir }) => {
      const [file, form] = path.split("?");
      return { path: join(resolveDir, file), namespace: form };
    });
    for (const form of ["text", "packed"]) {
      bundler.onLoad({ filter: /./, namespace: form }, async ({ path }) => {
        const { outputFiles, metafile } = await bundleAlone(path);
        const [{ text }] = outputFiles;
        return {
          contents: form === "text" ? text : gzipSync(text, { level: 9 }).toString("base64"),
          loader: "text",
          watchFiles: Object.keys(metafile.inputs).map((input) => resolve(input)),
        };
      });
    }
  },
};

/** Bundles a file with all its dependencies, for an isolate without other modules. */
export function bundleAlone(entry) {
  return build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2024",
    minify: true,
    mainFields: ["module", "main"],
    external: ["cloudflare:workers", "node:async_hooks"],
    plugins: [justBash],
    metafile: true,
  });
}
