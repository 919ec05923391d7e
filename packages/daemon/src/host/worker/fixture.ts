import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createTempFolder } from "../fixture.ts";
import { locateParts, type BuildParts } from "../parts.ts";

const packages = fileURLToPath(new URL("../../../../../node_modules", import.meta.url));

/** All required exports except the default one. */
export const objects = `
import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
export class Supervision extends WorkerEntrypoint { fetch() { return new Response(null, { status: 204 }); } }
export class Think extends DurableObject {}
export class Agency extends DurableObject {}
export class User extends DurableObject {}
`;

/** A minimal Worker that main can run; it responds with `word` and its BOOT binding. */
export const createWorkerSource = (word: string) => `${objects}
export default {
  fetch(request: Request, env: { BOOT: unknown }) {
    const { pathname } = new URL(request.url);
    return pathname === "/health" ? new Response("ok") : Response.json({ word: ${word}, boot: env.BOOT });
  },
};`;

/** Creates a folder with these files in which our packages resolve. The first file is the Worker. */
export function createProject(files: Record<string, string>, { installed = true } = {}) {
  const folder = createTempFolder();
  if (installed) symlinkSync(packages, join(folder, "node_modules"));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  for (const [name, text] of Object.entries(files)) write(name, text);
  return { folder, entry: join(folder, Object.keys(files)[0] ?? ""), write };
}

/** Version of @thinkery/runtime as resolved from there. */
export const { version: libraryVersion } = JSON.parse(
  readFileSync(join(packages, "@thinkery/runtime/package.json"), "utf8"),
) as { version: string };
export const version = `${libraryVersion}+test`;

/** A build whose stock Worker throws, so that it cannot be mistaken for a custom one. */
export function createStockParts(): BuildParts {
  const folder = createTempFolder();
  for (const name of ["worker/main", "worker/sandbox", "worker/slot-pool", "worker/blob-index", "page"])
    mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, "build.json"), JSON.stringify({ version }));
  writeFileSync(join(folder, "worker/main/main.js"), "throw new Error('the stock Worker');");
  writeFileSync(join(folder, "worker/sandbox/sandbox.js"), "export default {};");
  writeFileSync(join(folder, "worker/slot-pool/slot-pool.js"), "export default {};");
  writeFileSync(
    join(folder, "worker/blob-index/blob-index.js"),
    "import { DurableObject } from 'cloudflare:workers'; export class BlobIndex extends DurableObject {} export default {};",
  );
  return locateParts(folder);
}
