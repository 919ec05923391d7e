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
  /** What is known from an earlier run. */
  state?: SyncState | undefined;
  onEvent(event: SyncEvent): void;
  onState(state: SyncState): Promise<void>;
  restMs?: number;
  /** So long what was refused is not tried again. */
  holdMs?: number;
  largest?: number;
}

interface PassOptions {
  /** However much it is that would be deleted. */
  isSure?: boolean;
  isFirst?: boolean;
  signal?: AbortSignal;
}

export interface PassResult {
  /** Both sides have the same now; otherwise something changed meanwhile, and another pass is to come. */
  isComplete: boolean;
  /** But for so many files, about which nothing can be done as things are. */
  left: number;
  /** The folders that were looked into. */
  folders: string[];
}

/** Keeps a folder and a workspace alike. Nothing is ever overwritten that the other side has not seen. */
export class Mirror {
  readonly #options: MirrorOptions;
  readonly #local: LocalSide;
  readonly #refusals: SyncFailures;
  readonly #reported = new Set<string>();
  #state: SyncState | undefined;

  constructor(options: MirrorOptions) {
    this.#options = options;
    this.#state = options.state;
    this.#refusals = new SyncFailures(options.holdMs);
    this.#local = new LocalSide(options.folder, {
      restMs: options.restMs ?? 300,
      maxUnrestMs: 5000,
      largest: options.largest ?? maxFileBytes,
    });
    for (const [path, { hash, state }] of options.state?.files ?? [])
      if (state) this.#local.remember(path, hash, state);
  }

  /** Compares both sides and does what is to be done, until the signal fires. */
  async runPass({ isSure = false, isFirst = false, signal }: PassOptions = {}): Promise<PassResult> {
    const identity = this.#local.readIdentity();
    const found = await this.#local.scan();
    // Asked again: a disk that went away in between leaves an empty folder behind.
    if (this.#local.readIdentity() !== identity) throw createReplacedError("folder");
    const { workspace, version, files } = await this.#options.remote.list();
    const there = new Map(files.map(({ path, hash }) => [path, hash]));
    const state = this.#resolveState({ folder: identity, workspace, version }, isFirst);
    const round = new SyncPass({
      ...this.#options,
      local: this.#local,
      failures: this.#refusals,
      found,
      there,
      version,
      state,
      signal,
    });
    this.#reportSkipped(found);
    const steps = round.plan();
    if (isFirst) for (const path of found.drafts) removeDraft(this.#options.folder, path);
    if (!isSure) assertNotVanished(countVanished(steps, round.sides), state.files.size, this.#options.folder);
    try {
      await round.apply(steps);
    } finally {
      const isNews = round.hasStateChanged || state.version !== version;
      state.version = version;
      if (isNews) await this.#options.onState(state);
    }
    return { isComplete: round.isComplete, left: round.leftCount, folders: found.folders };
  }

  /** What both had in common, if they are still the two that had it. */
  #resolveState(now: Omit<SyncState, "files">, isFirst: boolean): SyncState {
    const known = this.#state;
    if (known && !isFirst && known.folder !== now.folder) throw createReplacedError("folder");
    if (known && !isFirst && known.workspace !== now.workspace) throw createReplacedError("agent");
    const isSame = known?.folder === now.folder && known.workspace === now.workspace && known.version <= now.version;
    return (this.#state = known && isSame ? known : { ...now, files: new Map() });
  }

  #reportSkipped({ untaken }: LocalScan): void {
    for (const { path, why } of untaken) {
      if (this.#reported.has(path + why)) continue;
      this.#reported.add(path + why);
      this.#options.onEvent({ did: "left", path, why });
    }
  }
}

/** Fewer files than this may vanish at once. If more do, and they are most of them, a disk may be gone. */
const minSuspicious = 10;

function assertNotVanished({ here, there }: { here: number; there: number }, known: number, folder: string): void {
  const assertFew = (count: number, from: string, where: string) => {
    if (count < minSuspicious || count * 2 <= known) return;
    const gone = `${count} of ${known} files are gone from ${from} at once.`;
    throw fail("conflict", `${gone} If they should be deleted ${where} too, say so with --force; nothing was done.`);
  };
  assertFew(there, "the folder", "from the workspace");
  assertFew(here, "the workspace", `from ${folder}`);
}

function createReplacedError(what: "folder" | "agent"): Error {
  return fail(
    "conflict",
    `There is another ${what} in the place of this one now; nothing was done. Start the sync again if that is right.`,
  );
}
