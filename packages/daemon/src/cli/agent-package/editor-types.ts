import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

const folderName = ".thinkery";
export const typesConfig = `${folderName}/tsconfig.json`;

/**
 * Tells editors and tests where the SDK is: this program has a copy, and packages need not install one. Only in folders
 * whose tsconfig.json asks for it, as those of `agent init` do.
 */
export async function updateTypes(folder: string, program: string): Promise<void> {
  const config = await readFile(join(folder, "tsconfig.json"), "utf8").catch(() => "");
  if (!config.includes(typesConfig)) return;
  const file = join(folder, typesConfig);
  const text = formatConfig(join(dirname(program), "sdk"));
  if ((await readFile(file, "utf8").catch(() => undefined)) === text) return;
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  } catch {
    // A folder that cannot be written to can still be deployed.
  }
}

function formatConfig(sdk: string): string {
  // Without extensions: editors find the types there, and tests the code.
  const agent = join(sdk, "agent/agent");
  const paths = {
    "@thinkery/sdk": [agent],
    "@thinkery/sdk/agent": [agent],
    "@thinkery/sdk/agent-test": [join(sdk, "agent-test/agent-test")],
  };
  return `${JSON.stringify({ compilerOptions: existsSync(sdk) ? { paths } : {} }, undefined, 2)}\n`;
}
