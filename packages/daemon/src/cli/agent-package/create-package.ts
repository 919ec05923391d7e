import { mkdir, readdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fail } from "@thinkery/sdk";
import { typesConfig, updateTypes } from "./editor-types.ts";
import { formatToolName } from "./format-deploy.ts";
import { suggestName } from "./package-name.ts";
import { type Template, templates } from "./templates.ts";

interface CreateOptions {
  cwd: string;
  /** The folder as the user wrote it. */
  dir: string;
  template: string;
  /** Adds the files that are missing to a folder that is not empty. */
  force: boolean;
  /** The entry file of this program. */
  program: string;
}

export interface CreatedPackage {
  name: string;
  /** What was written, relative to the folder. */
  files: string[];
  /** What was there already. */
  kept: string[];
}

/** Writes a complete package. Overwrites nothing. */
export async function createPackage({ cwd, dir, template, force, program }: CreateOptions): Promise<CreatedPackage> {
  const folder = resolve(cwd, dir);
  const name = suggestName(basename(folder));
  if (name === "") throw fail("bad_request", `“${dir}” has no letters to name the agent after. Choose another folder.`);
  if (!force) await checkEmpty(folder, dir);
  const contents = createFiles(name, template, templates[template] as Template);
  const created: CreatedPackage = { name, files: [], kept: [] };
  for (const [path, text] of Object.entries(contents)) {
    const isNew = await writeNew(join(folder, path), text);
    (isNew ? created.files : created.kept).push(path);
  }
  await updateTypes(folder, program);
  return created;
}

const maxListed = 5;

async function checkEmpty(folder: string, dir: string): Promise<void> {
  const entries = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw fail("bad_request", `Cannot use “${dir}”: ${error.code === "ENOTDIR" ? "it is a file" : error.code}.`);
  });
  // A new repository is as good as an empty folder.
  const found = entries.filter((name) => name !== ".git" && name !== ".DS_Store").toSorted();
  if (found.length === 0) return;
  const more = found.length > maxListed ? ` and ${found.length - maxListed} more` : "";
  throw fail(
    "bad_request",
    `Refusing to write into “${dir}”: it contains ${found.slice(0, maxListed).join(", ")}${more}. Choose an empty folder, or pass --force to add only the files that are missing.`,
  );
}

async function writeNew(path: string, text: string): Promise<boolean> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { flag: "wx" });
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    throw fail("bad_request", `Cannot write ${path} (${code}).`);
  }
}

function createFiles(name: string, template: string, { code, test, packageJson }: Template): Record<string, string> {
  const example = JSON.parse(packageJson) as { description: string; thinkery: object; [key: string]: unknown };
  const displayName = name.charAt(0).toUpperCase() + name.slice(1).replace(/[-_.]+/g, " ");
  const { thinkery, ...fields } = example;
  return {
    "package.json": formatJson({
      ...fields,
      name,
      scripts: { test: "vitest run" },
      devDependencies: { vitest: "^4.1.0" },
      thinkery: { ...thinkery, displayName },
    }),
    // The names of its tools begin with its own name.
    "src/agent.ts": code.replaceAll(formatToolName(template, ""), formatToolName(name, "")),
    "src/agent.test.ts": test,
    "README.md": formatReadme(name, displayName, example.description),
    "tsconfig.json": formatJson({
      extends: `./${typesConfig}`,
      compilerOptions: {
        target: "ES2024",
        lib: ["ES2024", "DOM", "DOM.Iterable"],
        module: "ESNext",
        moduleResolution: "Bundler",
        strict: true,
        noEmit: true,
        allowImportingTsExtensions: true,
        isolatedModules: true,
        skipLibCheck: true,
        types: [],
      },
      include: ["src"],
    }),
    "vitest.config.ts": vitestConfig,
    ".gitignore": "node_modules/\n.thinkery/\n",
  };
}

const vitestConfig = `import { defineConfig } from "vitest/config";

// Finds @thinkery/sdk where ${typesConfig} says.
export default defineConfig({ resolve: { tsconfigPaths: true } });
`;

const formatReadme = (name: string, displayName: string, description: string): string => `# ${displayName}

${description}

| command | does |
|---|---|
| \`thinkery agent dev .\` | deploys it, and again on each save |
| \`thinkery chat ${name}\` | talks to it |
| \`thinkery agent deploy .\` | deploys it once |
| \`npm install && npm test\` | runs its tests, without a host |

What it may do is in \`thinkery.capabilities\` of package.json.
`;

function formatJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
