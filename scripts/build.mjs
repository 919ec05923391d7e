// Builds the stale parts: the Workers, the page and the daemon.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildWorker, oneLocale } from "../packages/runtime/build.mjs";
import { root } from "./root.mjs";
import { tool } from "./run.mjs";

const dist = join(root, "packages/daemon/dist");
/** The command line carries their text, tests included. */
const templates = join(root, "examples/agents");
const stampFile = join(dist, "stamps.json");

const commonInputs = ["package-lock.json", "scripts/build.mjs", "packages/runtime/build.mjs", "packages/sdk/src"];

const parts = {
  worker: {
    inputs: ["packages/runtime/src", "packages/runtime/shims", "packages/runtime/patches"],
    async build() {
      rmSync(join(dist, "worker"), { recursive: true, force: true });
      await buildWorker(join(root, "packages/runtime/src/main.ts"), join(dist, "worker/main"));
      await buildWorker(join(root, "packages/runtime/src/sandbox/process.ts"), join(dist, "worker/sandbox"), {
        name: "sandbox",
      });
      await buildWorker(join(root, "packages/runtime/src/sandbox/slot-pool.ts"), join(dist, "worker/slot-pool"), {
        name: "slot-pool",
      });
      await buildWorker(join(root, "packages/runtime/src/store/blobs/blob-index.ts"), join(dist, "worker/blob-index"), {
        name: "blob-index",
      });
    },
  },
  // For editors and tests of agents outside this repository.
  sdk: {
    inputs: ["packages/daemon/tsconfig.agent-sdk.json"],
    build() {
      rmSync(join(dist, "sdk"), { recursive: true, force: true });
      execFileSync(tool("tsc"), ["-p", "packages/daemon/tsconfig.agent-sdk.json"], {
        cwd: root,
        stdio: "inherit",
        shell: process.platform === "win32",
      });
    },
  },
  page: {
    inputs: ["packages/dashboard"],
    async build() {
      const { build } = await import("vite");
      await build({ root: join(root, "packages/dashboard"), logLevel: "warn" });
    },
  },
  daemon: {
    inputs: ["packages/daemon/src", "examples/agents"],
    async build() {
      const { build } = await import("esbuild");
      rmSync(join(dist, "chunks"), { recursive: true, force: true });
      await build({
        entryPoints: { thinkery: join(root, "packages/daemon/src/main.ts") },
        outdir: dist,
        bundle: true,
        platform: "node",
        format: "esm",
        target: "node20.19",
        splitting: true,
        minify: true,
        // Stack traces need readable names.
        keepNames: true,
        plugins: [oneLocale],
        chunkNames: "chunks/[name]-[hash]",
        mainFields: ["module", "main"],
        external: ["workerd", "esbuild"],
        banner: { js: 'import { createRequire as _cr } from "node:module"; const require = _cr(import.meta.url);' },
        logLevel: "warning",
      });
    },
  },
};

/** Builds the parts whose inputs have changed, and returns their names. */
export async function build({ log = () => {} } = {}) {
  mkdirSync(dist, { recursive: true });
  const stamps = readStamps();
  const built = [];
  for (const [name, part] of Object.entries(parts)) {
    const stamp = computeStamp([...commonInputs, ...part.inputs]);
    if (stamps[name] === stamp) continue;
    log(`building the ${name} …`);
    await part.build();
    stamps[name] = stamp;
    built.push(name);
    writeFileSync(stampFile, JSON.stringify(stamps));
  }
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const hash = createHash("sha256").update(JSON.stringify(stamps)).digest("hex").slice(0, 8);
  writeFileSync(join(dist, "build.json"), JSON.stringify({ version: `${version}+${hash}` }));
  return built;
}

function readStamps() {
  try {
    return JSON.parse(readFileSync(stampFile, "utf8"));
  } catch {
    return {};
  }
}

function computeStamp(inputs) {
  const hash = createHash("sha256");
  for (const path of inputs.flatMap((input) => listFiles(join(root, input)))) {
    hash.update(path.slice(root.length)).update("\0").update(readFileSync(path)).update("\0");
  }
  return hash.digest("hex");
}

function listFiles(path) {
  if (!existsSync(path)) return [];
  let entries;
  try {
    entries = readdirSync(path, { withFileTypes: true });
  } catch {
    return [path];
  }
  const isTemplate = path.startsWith(templates);
  return entries
    .filter(({ name }) => name !== "node_modules" && name !== "dist" && (isTemplate || !name.includes(".test.")))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => (entry.isDirectory() ? listFiles(join(path, entry.name)) : [join(path, entry.name)]));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const built = await build({ log: (line) => console.error(line) });
  if (built.length === 0) console.error("everything is up to date");
}
