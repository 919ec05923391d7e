// The one way to bundle code for workerd: for our own build, for tests and benchmarks, and for a Worker of your own.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { justBash } from "./shims/just-bash.mjs";

/** Lets go of the process that bundles; the next bundle starts another. */
export { stop } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Of this package; the daemon that starts the bundle has to be of the same. */
export const { version } = JSON.parse(readFileSync(here("./package.json"), "utf8"));

/** Bundles `entry` into `outdir/<name>.js` and chunks beside it that load on demand. */
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
    alias: { "cloudflare:email": here("./shims/cloudflare-email.js"), path: "node:path" },
    plugins: [oneLocale, lateMcpClient, bundledText],
    metafile: true,
    logLevel: "warning",
    ...settings,
  });
}

export const oneLocale = {
  name: "one-locale",
  setup(bundler) {
    bundler.onResolve({ filter: /\/locales\/index\.js$/ }, (args) =>
      args.resolveDir.includes("/zod/") ? { path: here("./shims/zod-locales.js") } : undefined,
    );
  },
};

const lateMcpClient = {
  name: "late-mcp-client",
  setup(bundler) {
    const shim = here("./shims/mcp-client.js");
    bundler.onResolve({ filter: /^@modelcontextprotocol\/client$/ }, (args) =>
      args.importer === shim ? undefined : { path: shim },
    );
  },
};

/**
 * `import code from "./x.ts?text"` is the bundle of `x.ts` as text: a Worker that loads others brings their code along.
 * With `?packed` it is gzip in base64: what is large and seldom needed costs less of every start.
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

/** One file and all that it needs, for an isolate with nothing else in it. */
export function bundleAlone(entry) {
  return build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2024",
    minify: true,
    mainFields: ["module", "main"],
    external: ["cloudflare:workers"],
    plugins: [justBash],
    metafile: true,
  });
}
