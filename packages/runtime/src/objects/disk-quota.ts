import { fail, ownerUser } from "@thinkery/sdk";
import { type BlobEnv, openBlobIndex } from "../store/blobs/counted.ts";
import type { Env } from "./env.ts";
import type { Registration } from "./registration.ts";

interface DiskQuotaOptions {
  env: Env & BlobEnv;
  storage: DurableObjectStorage;
  /** The agent's address. Blobs are counted for root agents only, because sub-agents store them for those. */
  agent: string;
  isRoot: boolean;
  registration: Registration;
}

/** A report is repeated after this long, or after this much growth. */
const maxReportAgeMs = 5_000;
const maxUnreportedBytes = 1024 * 1024;

/** What an agent may still store, out of the disk space of its user. The host's owner has no limit. */
export class DiskQuota {
  readonly #options: DiskQuotaOptions;
  /** The last report: what was stored then, and how much the user had left; undefined if there is no limit. */
  #reported: { bytes: number; at: number; freeBytes: number | undefined } | undefined;
  /** Blobs stored since then. */
  #newBlobBytes = 0;

  constructor(options: DiskQuotaOptions) {
    this.#options = options;
  }

  /** Throws if the user has no room for so many more bytes, as far as the last report knows. */
  check(bytes: number): void {
    const { freeBytes, bytes: reportedBytes } = this.#reported ?? {};
    if (bytes <= 0 || freeBytes === undefined || reportedBytes === undefined) return;
    if (this.#countGrowth(reportedBytes) + bytes > freeBytes) throw createDiskLimitError();
  }

  /** The same for a blob, with a current report. */
  async checkBlob(bytes: number): Promise<void> {
    await this.refresh();
    this.check(bytes);
    this.#newBlobBytes += bytes;
  }

  /** Reports to the user's object, unless the last report still holds. */
  async refresh(): Promise<void> {
    const { at = 0, bytes = 0 } = this.#reported ?? {};
    if (Date.now() - at >= maxReportAgeMs || this.#countGrowth(bytes) >= maxUnreportedBytes) await this.#report();
  }

  /** Reports notable changes when a turn is over. */
  async reportChange(): Promise<void> {
    const { bytes = -maxUnreportedBytes } = this.#reported ?? {};
    if (Math.abs(this.#countGrowth(bytes)) >= maxUnreportedBytes) await this.#report();
  }

  async readBytes(): Promise<{ databaseBytes: number; blobs: { blobs: number; bytes: number } }> {
    const { env, storage, agent, isRoot } = this.#options;
    const blobs = (isRoot && (await openBlobIndex(env)?.getTotals(agent))) || { blobs: 0, bytes: 0 };
    return { databaseBytes: storage.sql.databaseSize, blobs };
  }

  /** The part of the last report that the database had is not known apart, so the sum of both is compared. */
  #countGrowth(reportedBytes: number): number {
    return this.#options.storage.sql.databaseSize + this.#blobBytes + this.#newBlobBytes - reportedBytes;
  }

  #blobBytes = 0;

  async #report(): Promise<void> {
    const { env, agent, registration } = this.#options;
    const { owner } = registration.get().agent;
    if (owner === ownerUser) return;
    const { databaseBytes, blobs } = await this.readBytes();
    const bytes = databaseBytes + blobs.bytes;
    const { freeBytes } = await env.User.getByName(owner).limits.reportDisk(agent, bytes);
    this.#blobBytes = blobs.bytes;
    this.#newBlobBytes = 0;
    this.#reported = { bytes, at: Date.now(), freeBytes };
  }
}

export function createDiskLimitError(): Error {
  return fail(
    "too_large",
    "Your disk space is used up. Delete agents or branches you no longer need, clear conversations, or ask the host's owner for more.",
  );
}
