// The shell's interpreter where there is no Node: its bundle with our patch, and what that imports from Node.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { patchPackageFile } from "../patches/patch.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** What the patch changes and why is in docs/05-sandbox.md. */
const patchFile = here("../patches/just-bash+3.4.2.patch");

const patched = new Map();

export const justBash = {
  name: "just-bash",
  setup(bundler) {
    bundler.onResolve({ filter: /^node:zlib$/ }, () => ({ path: here("./zlib.js") }));
    bundler.onLoad({ filter: /just-bash\/dist\/bundle\/browser\.js$/ }, async ({ path }) => {
      const code = await patchOnce(join(dirname(path), "../.."));
      return {
        contents: `import ${JSON.stringify(here("./buffer.js"))};${code}`,
        loader: "js",
        watchFiles: [patchFile],
      };
    });
  },
};

/** Formatting takes a second, and tests bundle the shell several times. */
function patchOnce(packageFolder) {
  if (!patched.has(packageFolder)) patched.set(packageFolder, patchPackageFile(packageFolder, patchFile));
  return patched.get(packageFolder);
}
