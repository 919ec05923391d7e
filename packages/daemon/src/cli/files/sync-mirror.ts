import { fail } from "@thinkery/sdk";
import { countVanished } from "@thinkery/sdk/internal";
import { removeDraft } from "../../folder/write.ts";
import { maxFileBytes } from "./reach.ts";
import { type Found, LocalSide } from "./sync-local.ts";
import { Refusals } from "./sync-refusals.ts";
import type { Remote } from "./sync-remote.ts";
import { Round, type SyncEvent } from "./sync-round.ts";
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

export interface Pass {
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
  readonly #refusals: Refusals;
  readonly #told = new Set<string>();
  #state: SyncState | undefined;

  constructor(options: MirrorOptions) {
    this.#options = options;
    this.#state = options.state;
    this.#refusals = new Refusals(options.holdMs);
    this.#local = new LocalSide(options.folder, { restMs: options.restMs ?? 300, longestUnrestMs: 5000, largest: options.largest ?? maxFileBytes });
    for (const [path, { hash, state }] of options.state?.files ?? []) if (state) this.#local.recall(path, hash, state);
  }

  /** Compares both sides and does what is to be done, until the signal fires. */
  async pass({ isSure = false, isFirst = false, signal }: PassOptions = {}): Promise<Pass> {
    const identity = this.#local.identity();
    const found = await this.#local.found();
    // Asked again: a disk that went away in between leaves an empty folder behind.
    if (this.#local.identity() !== identity) throw replaced("folder");
    const { workspace, version, files } = await this.#options.remote.list();
    const there = new Map(files.map(({ path, hash }) => [path, hash]));
    const state = this.#common({ folder: identity, workspace, version }, isFirst);
    const round = new Round({ ...this.#options, local: this.#local, refusals: this.#refusals, found, there, version, state, signal });
    this.#tell(found);
    const steps = round.plan();
    if (isFirst) for (const path of found.drafts) removeDraft(this.#options.folder, path);
    if (!isSure) refuseVanished(countVanished(steps, round.sides), state.files.size, this.#options.folder);
    try {
      await round.carryOut(steps);
    } finally {
      const isNews = round.hasLearned || state.version !== version;
      state.version = version;
      if (isNews) await this.#options.onState(state);
    }
    return { isComplete: round.isComplete, left: round.left, folders: found.folders };
  }

  /** What both had in common, if they are still the two that had it. */
  #common(now: Omit<SyncState, "files">, isFirst: boolean): SyncState {
    const known = this.#state;
    if (known && !isFirst && known.folder !== now.folder) throw replaced("folder");
    if (known && !isFirst && known.workspace !== now.workspace) throw replaced("agent");
    const isSame = known?.folder === now.folder && known.workspace === now.workspace && known.version <= now.version;
    return (this.#state = known && isSame ? known : { ...now, files: new Map() });
  }

  #tell({ untaken }: Found): void {
    for (const { path, why } of untaken) {
      if (this.#told.has(path + why)) continue;
      this.#told.add(path + why);
      this.#options.onEvent({ did: "left", path, why });
    }
  }
}

/** Fewer files than this may vanish at once. If more do, and they are most of them, a disk may be gone. */
const minSuspicious = 10;

function refuseVanished({ here, there }: { here: number; there: number }, known: number, folder: string): void {
  const refuse = (count: number, from: string, where: string) => {
    if (count < minSuspicious || count * 2 <= known) return;
    const gone = `${count} of ${known} files are gone from ${from} at once.`;
    throw fail("conflict", `${gone} If they should be deleted ${where} too, say so with --force; nothing was done.`);
  };
  refuse(there, "the folder", "from the workspace");
  refuse(here, "the workspace", `from ${folder}`);
}

function replaced(what: "folder" | "agent"): Error {
  return fail("conflict", `There is another ${what} in the place of this one now; nothing was done. Start the sync again if that is right.`);
}
