import type { Plugin } from "esbuild";

/** The module of the isolate that is the SDK, whatever version its author has. */
const sdkModule = "/thinkery/sdk.js";

const agentEntry = "@thinkery/sdk/agent";
const namespace = "thinkery-sdk";

const purposes: Record<string, string> = {
  "@thinkery/sdk/agent-test": "is for tests, which run outside of a sandbox. Import it only in *.test.ts files",
  "@thinkery/sdk/client": "is for programs that talk to agents from outside. Inside an agent, use ctx.tools",
  "@thinkery/sdk/react": "is for web pages",
  "@thinkery/sdk/test": "is for tests of Workers",
  "@thinkery/sdk/internal": "is not public",
  "@thinkery/runtime": "is for Workers that run agents. Agents are made with defineAgent",
};

/** Resolves `@thinkery/sdk` without it being installed. */
export const sdkImport: Plugin = {
  name: "import-sdk",
  setup(build) {
    build.onResolve({ filter: /^@thinkery(?:\/|$)/ }, ({ path }) => {
      if (path === "@thinkery/sdk" || path === agentEntry) return { path: agentEntry, namespace, sideEffects: false };
      const known = Object.keys(purposes).find((entry) => path === entry || path.startsWith(`${entry}/`));
      const purpose = known ? (purposes[known] as string) : "does not exist";
      return { errors: [{ text: `Agents cannot import “${path}”: it ${purpose}. Agents import “${agentEntry}”.` }] };
    });
    // With its exports by name, so that importing something else is an error with a position.
    build.onLoad({ filter: /./, namespace }, async () => {
      const names = (await listExports()).map((name) => `export const ${name} = sdk.${name};`);
      return { contents: `import * as sdk from "${sdkModule}";\n${names.join("\n")}` };
    });
    build.onResolve({ filter: /^\/thinkery\/sdk\.js$/, namespace }, ({ path }) => ({ path, external: true }));
  },
};

async function listExports(): Promise<string[]> {
  // As any string, because its types need those of a browser, and this program has those of Node.
  return Object.keys((await import("@thinkery/sdk/agent" as string)) as object);
}

/** Explains an import of something that the SDK does not have; undefined for any other message of esbuild. */
export async function explainMissingExport(text: string): Promise<string | undefined> {
  const name = new RegExp(`^No matching export in "${namespace}:[^"]*" for import "(.+)"$`).exec(text)?.[1];
  if (name === undefined) return undefined;
  const exports = (await listExports()).join(", ");
  return name === "default"
    ? `“${agentEntry}” has no default export. Write import { defineAgent } from "${agentEntry}".`
    : `“${agentEntry}” does not export “${name}”. It has ${exports}, and types.`;
}
