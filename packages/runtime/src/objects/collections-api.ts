import { type Collection, fail, ownerUser } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import { openBlobIndex } from "../store/blobs/counted.ts";
import { getWorkspaceLimits } from "../workspace/quota.ts";
import { BlobCollector } from "./blob-collector.ts";
import type { Env } from "./env.ts";

interface RunningCollection {
  id: string;
  state: Collection["state"];
  error?: string;
  collector: BlobCollector;
  ended: Promise<void>;
}

/** A request waits at most this long; the client sends it again until the collection is over. */
const maxWaitMs = 2_000;

/** Runs collections of unused blobs, one at a time. Only the object of the host's owner has it. */
export class CollectionsApi extends RpcTarget {
  readonly #env: Env;
  readonly #name: string;
  #current: RunningCollection | undefined;

  constructor(env: Env, name: string) {
    super();
    this.#env = env;
    this.#name = name;
  }

  /** Starts a collection, or joins the one with this id, and waits for it for a while. */
  async collect({ dryRun = false, id }: { dryRun?: boolean; id?: string }): Promise<Collection> {
    const current = this.#current;
    // One that is unknown was lost in a restart. Doing it again does no harm.
    const joined = current && (current.id === id || (current.state === "running" && !id)) ? current : undefined;
    if (joined && joined.collector.progress.dryRun !== dryRun)
      throw fail("conflict", "Another collection of blobs is running. Try again when it is over.");
    const collection = joined ?? this.#start(dryRun);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, maxWaitMs)));
    await Promise.race([collection.ended, timeout]);
    clearTimeout(timer);
    const { state, error, collector } = collection;
    return { id: collection.id, state, ...collector.progress, ...(error ? { error } : {}) };
  }

  #start(dryRun: boolean): RunningCollection {
    const index = openBlobIndex(this.#env);
    if (this.#name !== ownerUser) throw fail("forbidden", "Only the host's owner can collect blobs.");
    if (!index) throw fail("unavailable", "This host does not count who needs which blob, so none can be deleted.");
    if (this.#current?.state === "running")
      throw fail("conflict", "Another collection of blobs is running. Try again when it is over.");
    const graceMs = getWorkspaceLimits(this.#env).blobGraceSeconds * 1000;
    const collector = new BlobCollector(this.#env, index, { dryRun, graceMs });
    const collection: RunningCollection = {
      id: crypto.randomUUID(),
      state: "running",
      collector,
      ended: collector.run().then(
        () => void (collection.state = "done"),
        (error: unknown) => {
          console.error("the collection of blobs failed", error);
          collection.state = "failed";
          collection.error = error instanceof Error ? error.message : String(error);
        },
      ),
    };
    this.#current = collection;
    return collection;
  }
}
