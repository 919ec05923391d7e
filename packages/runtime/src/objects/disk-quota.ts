import { type BlobTotals, fail, ownerUser } from "@thinkery/sdk";
import { openBlobIndex } from "../store/blobs/counted.ts";
import type { Env } from "./env.ts";

interface DiskQuotaOptions {
  env: Env;
  storage: DurableObjectStorage;
  /** The address of the agent, or the name of the agency's object. */
  key: string;
  /** Whether its blobs are counted. A sub-agent stores blobs for its root. */
  ownsBlobs: boolean;
  getOwner(): string;
}

interface DiskReport {
  at: number;
  databaseBytes: number;
  /** What the user had left; undefined if there is no limit. */
  freeBytes: number | undefined;
}

/** A report is repeated after this long, or after this much growth. */
const maxReportAgeMs = 5_000;
const maxUnreportedBytes = 256 * 1024;

/**
 * What an agent or an agency may still store, out of the disk space of its user. It reports to the user's object what it occupies:
 * notable changes of its database, and each blob before it is stored. The host's owner has no limit.
 */
export class DiskQuota {
  readonly #options: DiskQuotaOptions;
  #last: DiskReport | undefined;

  constructor(options: DiskQuotaOptions) {
    this.#options = options;
  }

  /** Throws if the user has no room for so many more bytes in the database, as far as the last report knows. */
  check(bytes: number): void {
    const { freeBytes } = this.#last ?? {};
    if (bytes > 0 && freeBytes !== undefined && this.#growthBytes + bytes > freeBytes) throw createDiskLimitError();
  }

  /** Throws if the user has no room for a blob. */
  async checkBlob(bytes: number): Promise<void> {
    const isUnlimited = this.#last !== undefined && this.#last.freeBytes === undefined;
    if (!isUnlimited || !this.#isRecent) await this.#report(bytes);
  }

  /** Reports to the user's object, unless the last report still holds. */
  async refresh(): Promise<void> {
    if (!this.#isRecent || this.#growthBytes >= maxUnreportedBytes) await this.#report();
  }

  /** Reports notable changes when a turn is over. */
  async reportChange(): Promise<void> {
    if (!this.#last || Math.abs(this.#growthBytes) >= maxUnreportedBytes) await this.#report();
  }

  async readBytes(): Promise<{ databaseBytes: number; blobs: BlobTotals }> {
    const { env, storage, key, ownsBlobs } = this.#options;
    const blobs = ownsBlobs ? await openBlobIndex(env)?.getTotals(key) : undefined;
    return { databaseBytes: storage.sql.databaseSize, blobs: blobs ?? { blobs: 0, bytes: 0 } };
  }

  get #isRecent(): boolean {
    return this.#last !== undefined && Date.now() - this.#last.at < maxReportAgeMs;
  }

  get #growthBytes(): number {
    return this.#options.storage.sql.databaseSize - (this.#last?.databaseBytes ?? 0);
  }

  async #report(newBytes = 0): Promise<void> {
    const { env, key, getOwner } = this.#options;
    const owner = getOwner();
    if (owner === ownerUser) return;
    const { databaseBytes, blobs } = await this.readBytes();
    const { limits } = env.User.getByName(owner);
    const { freeBytes, hasRoom } = await limits.reportDisk(key, databaseBytes + blobs.bytes, newBytes);
    this.#last = { at: Date.now(), databaseBytes, freeBytes };
    if (!hasRoom) throw createDiskLimitError();
  }
}

function createDiskLimitError(): Error {
  return fail(
    "too_large",
    "Your disk space is used up. Delete agents, agencies or branches you no longer need, clear conversations, or ask the host's owner for more.",
  );
}
