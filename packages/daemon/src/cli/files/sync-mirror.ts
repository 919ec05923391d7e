import { fail } from "@thinkery/sdk";
import { type Found, LocalSide } from "./sync-local.ts";
import type { Remote } from "./sync-remote.ts";
import { type Plan, Round, type SyncEvent } from "./sync-round.ts";
import type { SyncState } from "./sync-state.ts";

interface MirrorOptions {
  folder: string;
  remote: Remote;
  /** What is known from an earlier run. */
  state?: SyncState | undefined;
  onEvent(event: SyncEvent): void;
  onState(state: SyncState): Promise<void>;
  restMs?: number;
  largest?: number;
}

export interface Pass {
  /** Both sides have the same now; otherwise something changed meanwhile, and another pass is to come. */
  isComplete: boolean;
  /** The folders that were looked into. */
  folders: string[];
}

const megabyte = 1024 * 1024;
/** So many files are not deleted at once because nobody sees them any more: a disk may be gone. */
const suspicious = 10;

/** Keeps a folder and a workspace alike. Nothing is ever overwritten that the other side has not seen. */
export class Mirror {
  readonly #options: MirrorOptions;
  readonly #local: LocalSide;
  readonly #refused = new Map<string, string>();
  readonly #told = new Set<string>();
  #state: SyncState | undefined;

  constructor(options: MirrorOptions) {
    this.#options = options;
    this.#state = options.state;
    this.#local = new LocalSide(options.folder, { restMs: options.restMs ?? 300, longestUnrestMs: 5000, largest: options.largest ?? 32 * megabyte });
    for (const [path, { hash, state }] of options.state?.files ?? []) if (state) this.#local.recall(path, hash, state);
  }

  /** Compares both sides and does what is to be done. `isSure`: however much it is that would be deleted. */
  async pass({ isSure = false, isFirst = false } = {}): Promise<Pass> {
    const identity = this.#local.identity();
    const found = await this.#local.found();
    const { version, files } = await this.#options.remote.list();
    const there = new Map(files.map(({ path, hash }) => [path, hash]));
    const state = this.#common(identity, version, isFirst);
    const round = new Round({ ...this.#options, local: this.#local, refused: this.#refused, found, there, version, state });
    this.#tell(found);
    const plan = round.plan();
    if (!isSure) refuseVanished(plan, state.files.size, this.#options.folder);
    try {
      await round.carryOut(plan);
    } finally {
      const isNews = round.hasLearned || state.version !== version;
      state.version = version;
      if (isNews) await this.#options.onState(state);
    }
    return { isComplete: round.isComplete, folders: found.folders };
  }

  /** What both had in common, if they are still the two that had it. */
  #common(folder: string, version: number, isFirst: boolean): SyncState {
    const known = this.#state;
    if (known && !isFirst && known.folder !== folder) throw fail("conflict", "There is another folder in the place of this one now; nothing was done. Start the sync again if that is right.");
    if (!known || known.folder !== folder || version < known.version) this.#state = { folder, version, files: new Map() };
    return this.#state as SyncState;
  }

  #tell({ untaken }: Found): void {
    for (const { path, why } of untaken) {
      if (this.#told.has(path + why)) continue;
      this.#told.add(path + why);
      this.#options.onEvent({ did: "left", path, why });
    }
  }
}

function refuseVanished(plan: Plan, known: number, folder: string): void {
  for (const [decision, from, where] of [["removeThere", "the folder", "from the workspace"], ["removeHere", "the workspace", `from ${folder}`]] as const) {
    const count = plan.filter((one) => one.decision === decision).length;
    if (count < suspicious || count * 2 <= known) continue;
    throw fail("conflict", `${count} of ${known} files are gone from ${from} at once. If they should be deleted ${where} too, say so with --force; nothing was done.`);
  }
}
