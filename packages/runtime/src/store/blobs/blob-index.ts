import { type BlobReport, type BlobTotals, fail, isAgentObjectName } from "@thinkery/sdk";
import { DurableObject } from "cloudflare:workers";
import { migrate } from "../migrate.ts";
import { blobIndexMigrations } from "../schema/blob-index.ts";
import { BlobTally } from "./blob-tally.ts";
import type { BlobStore } from "./blobs.ts";
import { countUnknownOwners } from "./count-unknown-owners.ts";
import { type BlobStoreEnv, openBlobStore } from "./open.ts";
import { type BlobOwner, type NeededBlob, ReferenceRows } from "./reference-rows.ts";

interface BlobIndexEnv extends BlobStoreEnv {
  /** The folder with the objects' databases; only locally. */
  OBJECTS?: Fetcher;
}

/** One collection of unused blobs. */
export interface Visit {
  visit: number;
  /** What was stored later is kept: it may be about to be recorded. */
  cutoff: number;
  dryRun: boolean;
}

/** Bounds what one piece of work computes, because all objects share a thread. */
const maxRowsPerSlice = 200;
const maxConcurrentDeletions = 16;
const retryMs = 60_000;

/**
 * Knows which agents and agencies need which blobs, and deletes those that nobody needs. It is a single object, so that storing a
 * blob and deleting it cannot overlap.
 */
export class BlobIndex extends DurableObject<BlobIndexEnv> {
  readonly #rows: ReferenceRows;
  readonly #store: BlobStore;
  /** Deletions under way. Whoever stores the same blob waits for them. */
  readonly #deleting = new Map<string, Promise<void>>();

  constructor(ctx: DurableObjectState, env: BlobIndexEnv) {
    super(ctx, env);
    migrate(ctx.storage, { blobIndex: blobIndexMigrations });
    this.#rows = new ReferenceRows(ctx.storage);
    this.#store = openBlobStore(env);
    // The alarm may have been lost with the file that lists all alarms.
    if (this.#rows.hasUnfinished()) ctx.waitUntil(ctx.storage.setAlarm(Date.now()));
  }

  /** Records that somebody needs a blob, before they store it. A crash in between leaves a reference without a blob. */
  async reserve(owner: BlobOwner, blob: NeededBlob, maxBytes: number): Promise<void> {
    for (let deletion; (deletion = this.#deleting.get(blob.hash));) await deletion.catch(() => {});
    if (this.#rows.reserve(owner, blob, maxBytes, Date.now())) return;
    const [maxMb, usedMb] = [maxBytes, this.#rows.getTotals(owner.key).bytes].map((bytes) =>
      Math.floor(bytes / 1024 ** 2),
    );
    throw fail(
      "too_large",
      isAgentObjectName(owner.key)
        ? `This agent already stores ${usedMb} MB of large files, attachments and outputs, with their old versions; it can store ${maxMb} MB. Delete branches you no longer need, clear the conversation, or limit \`workspace.retainVersions\`; then run \`thinkery gc\`.`
        : `This agency already stores ${usedMb} MB of large documents, with their old versions, and resources; it can store ${maxMb} MB. Limit \`workspace.retainVersions\`, then run \`thinkery gc\`; or go on in another agency.`,
    );
  }

  async getTotals(key: string): Promise<BlobTotals> {
    return this.#rows.getTotals(key);
  }

  /** Gives up everything that a deleted agent or agency needed. Idempotent. The blobs are deleted soon. */
  async release(key: string): Promise<void> {
    if (this.#rows.release(key)) await this.ctx.storage.setAlarm(Date.now());
  }

  override async alarm(): Promise<void> {
    try {
      while (this.#rows.removeReleased(maxRowsPerSlice)) await yieldToOthers();
      for (let blobs; (blobs = this.#rows.listUnreferenced("", maxConcurrentDeletions)).length > 0;)
        await Promise.all(blobs.map(({ hash }) => this.#delete(hash)));
    } catch (error) {
      console.error("blobs could not be deleted", error);
      await this.ctx.storage.setAlarm(Date.now() + retryMs);
    }
  }

  async startVisit(): Promise<number> {
    return this.#rows.startVisit();
  }

  async recordVisit(owner: BlobOwner, needed: NeededBlob[], { visit }: Visit): Promise<void> {
    for (let from = 0; from === 0 || from < needed.length; from += maxRowsPerSlice) {
      this.#rows.recordVisit(owner, needed.slice(from, from + maxRowsPerSlice), visit, Date.now());
      await yieldToOthers();
    }
  }

  /** Gives up the references that their owner did not confirm. */
  async finishVisit(key: string, visit: Visit): Promise<void> {
    while (this.#rows.removeUnconfirmed(key, { ...visit, limit: maxRowsPerSlice })) await yieldToOthers();
    // A collection deletes the bytes itself and counts them. This is for an owner that was asked by itself.
    if (this.#rows.hasUnfinished() && (await this.ctx.storage.getAlarm()) === null)
      await this.ctx.storage.setAlarm(Date.now() + retryMs);
  }

  async listUnvisited({ visit }: Visit, after: string): Promise<string[]> {
    return this.#rows.listUnvisited(visit, after, maxRowsPerSlice);
  }

  /** Counts the agents and agencies with data that a visit has not reached. Returns undefined if that is unknown. */
  async countUnknownOwners({ visit }: Visit): Promise<number | undefined> {
    return this.env.OBJECTS && countUnknownOwners(this.env.OBJECTS, this.#rows.listVisitedObjects(visit));
  }

  /** Deletes the blobs of one folder that nobody needs. `isComplete`: everybody has been asked. */
  async sweepFolder(folder: string, visit: Visit, isComplete: boolean): Promise<BlobReport> {
    if (!visit.dryRun) while (this.#rows.removeReleased(maxRowsPerSlice)) await yieldToOthers();
    const { hashes, partials } = await this.#store.list(folder);
    const stored = new Set(hashes);
    const tally = new BlobTally();
    for (const { hash, size, state } of this.#rows.listCounted(folder, visit.visit, visit.cutoff)) {
      const isStored = stored.delete(hash);
      if (!isStored && state === "needed") tally.report.missing++;
      if (isStored) tally.add(state === "unused" ? "freed" : state, size);
    }
    for (const hash of stored) await this.#sweepUnreferenced(hash, visit, isComplete, tally);
    for (const name of partials) if (await this.#store.deletePartial(folder, name, visit)) tally.report.partials++;
    return tally.report;
  }

  /** Deletes a stored blob without references, if it is known that nobody needs it. */
  async #sweepUnreferenced(
    hash: string,
    { cutoff, dryRun }: Visit,
    isComplete: boolean,
    tally: BlobTally,
  ): Promise<void> {
    const isListed = this.#rows.listUnreferenced(hash, 1).length > 0;
    const found = await this.#store.stat(hash);
    if (!found) return;
    if (!isListed && found.storedAt >= cutoff) return tally.add("recent", found.size);
    if (!isListed && !isComplete) return tally.add("unknown", found.size);
    if (dryRun || (await this.#delete(hash))) tally.add("freed", found.size);
    else tally.add("recent", found.size);
  }

  /** Deletes the bytes unless somebody needs them by now. Returns whether it did. */
  async #delete(hash: string): Promise<boolean> {
    if (this.#rows.isReferenced(hash)) {
      this.#rows.forget(hash);
      return false;
    }
    const running = this.#deleting.get(hash);
    if (running) {
      await running;
      return true;
    }
    const deletion = this.#store.delete(hash).finally(() => this.#deleting.delete(hash));
    this.#deleting.set(hash, deletion);
    await deletion;
    this.#rows.forget(hash);
    return true;
  }
}

const yieldToOthers = () => new Promise((resolve) => setTimeout(resolve, 0));

/** Never receives requests, but workerd requires a handler. */
export default {
  fetch: () => new Response(null, { status: 404 }),
};
