import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { createTempFolder } from "../../host/fixture.ts";
import { type Bundle, createBundler } from "./bundle.ts";

export const answer = (text: string) =>
  `import { defineAgent } from "@thinkery/sdk/agent";\nexport default defineAgent({ onMessage: (_, ctx) => ctx.send(${JSON.stringify(text)}) });\n`;

export const createPackageJson = (fields: object = {}, thinkery: object = {}) =>
  JSON.stringify(
    { name: "hello", main: "src/agent.ts", ...fields, thinkery: { type: "agent", runtime: "isolate", ...thinkery } },
    undefined,
    2,
  );

/** Creates a package with these files, and a package.json unless it is one of them. */
export function createPackageFolder(files: Record<string, string>) {
  const folder = createTempFolder();
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  for (const [name, text] of Object.entries({ "package.json": createPackageJson(), ...files })) write(name, text);
  return { folder, write };
}

/** Bundles `src/agent.ts` of a package with these files. */
export async function bundleFiles(files: Record<string, string>): Promise<Bundle> {
  const { folder } = createPackageFolder(files);
  const bundler = await createBundler({ folder, entry: "src/agent.ts" }, "hello");
  onTestFinished(() => bundler.close());
  return bundler.bundle();
}

/** Returns the error of a bundle, as its lines are shown. */
export async function getBundleErrors(files: Record<string, string>): Promise<string[]> {
  const error = await bundleFiles(files).then(
    () => undefined,
    (thrown: { code: string; details?: { issues?: { path: string[]; message: string }[] } }) => thrown,
  );
  return (error?.details?.issues ?? []).map(({ path, message }) => `${path[0]}: ${message}`);
}
