import { fail } from "@thinkery/sdk";
import { countVanished } from "@thinkery/sdk/internal";
import { removeDraft } from "../../folder/write.ts";
import { maxFileBytes } from "./connect-agent.ts";
import { SyncFailures } from "./sync-failures.ts";
import { type LocalScan, LocalSide } from "./sync-local.ts";
import { SyncPass, type SyncEvent } from "./sync-pass.ts";
import type { Remote } from "./sync-remote.ts";
import type { SyncState } from "./sync-state.ts";

interface MirrorOptions {
  folder: string;
  remote: Remote;
  /** The state saved by an earlier run. */
  state?: SyncState | undefined;
  onEvent(event: SyncEvent): void;
  onState(state: SyncState): Promise<void>;
  /** A file is considered complete if it was not written to for this long. */
  settleMs?: number;
  /** Delay before a failed file is retried. */
  retryDelayMs?: number;
  maxBytes?: number;
}

interface PassOptions {
  /** Propagates deletions even if most files are gone. */
  force?: boolean;
  isFirst?: boolean;
  signal?: AbortSignal;
}

export interface PassResult {
  /** Both sides are in sync; otherwise something changed meanwhile and another pass is needed. */
  isComplete: boolean;
  /** Number of files that cannot be synced at the moment. */
  unsynced: number;
  /** The folders that were scanned. */
  folders: string[];
}

/** Syncs a folder with a workspace. Never overwrites a change that the other side has not seen. */
export class Mirror {
  readonly #options: MirrorOptions;
  readonly #local: LocalSide;
  readonly #failures: SyncFailures;
  readonly #reported = new Set<string>();
  #state: SyncState | undefined;

  constructor(options: MirrorOptions) {
    this.#options = options;
    this.#state = options.state;
    this.#failures = new SyncFailures(options.retryDelayMs);
    this.#local = new LocalSide(options.folder, {
      settleMs: options.settleMs ?? 300,
      maxUnsettledMs: 5000,
      maxBytes: options.maxBytes ?? maxFileBytes,
    });
    for (const [path, { hash, state }] of options.state?.files ?? [])
      if (state) this.#local.remember(path, hash, state);
  }

  /** Compares both sides and syncs the differences, until the signal aborts. */
  async runPass({ force = false, isFirst = false, signal }: PassOptions = {}): Promise<PassResult> {
    const identity = this.#local.readIdentity();
    const found = await this.#local.scan();
    // Checked again: a disk unmounted during the scan leaves an empty folder behind.
    if (this.#local.readIdentity() !== identity) throw createReplacedError("folder");
    const { workspace, version, files } = await this.#options.remote.list();
    const there = new Map(files.map(({ path, hash }) => [path, hash]));
    const state = this.#resolveState({ folder: identity, workspace, version }, isFirst);
    const pass = new SyncPass({
      ...this.#options,
      local: this.#local,
      failures: this.#failures,
      found,
      there,
      version,
      state,
      signal,
    });
    this.#reportSkipped(found);
    const steps = pass.plan();
    if (isFirst) for (const path of found.drafts) removeDraft(this.#options.folder, path);
    if (!force) assertNotVanished(countVanished(steps, pass.sides), state.files.size, this.#options.folder);
    try {
      await pass.apply(steps);
    } finally {
      const hasChanged = pass.hasStateChanged || state.version !== version;
      state.version = version;
      if (hasChanged) await this.#options.onState(state);
    }
    return { isComplete: pass.isComplete, unsynced: pass.unsyncedCount, folders: found.folders };
  }

  /** Returns the last common state, or an empty one if the folder or workspace is another one. */
  #resolveState(current: Omit<SyncState, "files">, isFirst: boolean): SyncState {
    const known = this.#state;
    if (known && !isFirst && known.folder !== current.folder) throw createReplacedError("folder");
    if (known && !isFirst && known.workspace !== current.workspace) throw createReplacedError("agent");
    const isSame =
      known?.folder === current.folder && known.workspace === current.workspace && known.version <= current.version;
    return (this.#state = known && isSame ? known : { ...current, files: new Map() });
  }

  #reportSkipped({ skipped }: LocalScan): void {
    for (const { path, reason } of skipped) {
      if (this.#reported.has(path + reason)) continue;
      this.#reported.add(path + reason);
      this.#options.onEvent({ action: "skipped", path, reason });
    }
  }
}

/** If at least this many files, and more than half, vanish at once, a disk may have been unmounted. */
const minSuspicious = 10;

function assertNotVanished({ here, there }: { here: number; there: number }, known: number, folder: string): void {
  const assertFew = (count: number, from: string, to: string) => {
    if (count < minSuspicious || count * 2 <= known) return;
    throw fail(
      "conflict",
      `${count} of ${known} files disappeared from ${from}. Nothing was changed. To delete them from ${to} too, pass --force.`,
    );
  };
  assertFew(there, "the folder", "the workspace");
  assertFew(here, "the workspace", folder);
}

function createReplacedError(subject: "folder" | "agent"): Error {
  return fail(
    "conflict",
    `The ${subject} was replaced by another one; nothing was changed. Start the sync again if that is intended.`,
  );
}
