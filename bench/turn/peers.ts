import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import type { Subject } from "../kit/subject.ts";

const folder = new URL("../peers/", import.meta.url);

/** Loads the peers that `npm run bench:peers` installed, one file each in bench/peers, for a kind of work. */
export async function loadPeers(kind: "peer" | "subagents" = "peer"): Promise<Subject[]> {
  if (!existsSync(new URL("node_modules", folder))) {
    console.log("  Peers are not installed. Run `npm run bench:peers` to include them.");
    return [];
  }
  const files = (await readdir(folder)).filter((name) => name.endsWith(`.${kind}.ts`)).sort();
  return Promise.all(files.map(async (name) => ((await import(new URL(name, folder).href)) as { peer: Subject }).peer));
}
