import { isAgentObjectName, isThinkeryError } from "@thinkery/sdk";
import type { BlobIndex, Visit } from "../store/blobs/blob-index.ts";
import type { BlobOwner } from "../store/blobs/reference-rows.ts";
import type { Env } from "./env.ts";
import type { StorageState } from "./storage-api.ts";

/** Returns the owner of blobs whose object has this name. Agents and agencies are told apart by their names. */
export function toBlobOwner(env: Env, key: string): BlobOwner {
  return { key, object: (isAgentObjectName(key) ? env.Think : env.Agency).idFromName(key).toString() };
}

/**
 * Records which blobs an agent and its sub-agents need, or an agency, and gives up its references to others unless it
 * may be about to need them. Returns whether all sub-agents could be asked.
 */
export async function visitBlobOwner(env: Env, index: BlobIndex, key: string, visit: Visit): Promise<boolean> {
  const owner = toBlobOwner(env, key);
  const { storage } = isAgentObjectName(key) ? env.Think.getByName(key) : env.Agency.getByName(key);
  const paths: string[][] = [[]];
  const states: Array<StorageState | undefined> = [];
  for (const path of paths) {
    const before = await readState(() => storage.getState(path));
    if (!before) continue;
    for (let source = 0, after = 0, sources = 1; source < sources;) {
      const page = await storage.listBlobs(path, source, after);
      if (page.blobs.length > 0) await index.recordVisit(owner, page.blobs, visit);
      after = page.next ?? 0;
      sources = page.sources;
      if (page.next === undefined) source++;
    }
    paths.push(...before.subAgents.map((name) => [...path, name]));
    states.push(before, await readState(() => storage.getState(path)));
  }
  // Also for an owner that needs nothing, so that it counts as visited.
  await index.recordVisit(owner, [], visit);
  const isComplete = states.every((state) => state?.isComplete !== false);
  const isSettled = states.every((state) => state && !state.isBusy && state.removedAt < visit.cutoff);
  if (isComplete && isSettled) await index.finishVisit(key, visit);
  return isComplete;
}

/** Returns undefined if the owner does not exist. */
async function readState(read: () => Promise<StorageState>): Promise<StorageState | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isThinkeryError(error) && error.code === "not_found") return undefined;
    throw error;
  }
}
