import { type Collection, formatAgencyKey, formatAgentObjectName, isAgentObjectName, ownerUser } from "@thinkery/sdk";
import type { BlobIndex, Visit } from "../store/blobs/blob-index.ts";
import { BlobTally } from "../store/blobs/blob-tally.ts";
import { blobFolders } from "../store/blobs/blobs.ts";
import type { Env } from "./env.ts";
import { visitBlobOwner } from "./visit-blob-owner.ts";

/** Agents and agencies are woken one after the other with a pause, so that few are awake at the same time. */
const pauseMs = 10;
const maxListedAgents = 20;
const pageSize = 200;

type Progress = Omit<Collection, "id" | "state">;

/**
 * Asks every agent and agency which blobs it needs, then deletes the others. Can be interrupted at any time, and runs of
 * it may overlap: nothing is deleted that one of them has named or stored since.
 */
export class BlobCollector {
  readonly progress: Progress;
  readonly #env: Env;
  readonly #index: BlobIndex;
  readonly #tally = new BlobTally();
  readonly #asked = new Set<string>();
  /** Whether everybody could be asked. */
  #isComplete = true;
  #visit: Visit;

  constructor(env: Env, index: BlobIndex, { dryRun, graceMs }: { dryRun: boolean; graceMs: number }) {
    this.#env = env;
    this.#index = index;
    this.#visit = { visit: 0, cutoff: Date.now() - graceMs, dryRun };
    this.progress = {
      dryRun,
      agents: 0,
      progress: 0,
      report: this.#tally.report,
      unreadable: [],
      unknownAgents: 0,
    };
  }

  async run(): Promise<void> {
    this.#visit = { ...this.#visit, visit: await this.#index.startVisit() };
    for await (const user of this.#listUsers()) await this.#askUser(user);
    await this.#askOthers();
    const unknown = await this.#index.countUnknownOwners(this.#visit);
    this.progress.unknownAgents = Math.max(0, (unknown ?? 0) - this.progress.unreadable.length);
    const isComplete = this.#isComplete && unknown === 0;
    for (const [index, folder] of blobFolders.entries()) {
      this.#tally.addReport(await this.#index.sweepFolder(folder, this.#visit, isComplete));
      this.progress.progress = (index + 1) / blobFolders.length;
    }
  }

  async *#listUsers(): AsyncGenerator<string> {
    yield ownerUser;
    const { users } = this.#env.User.getByName(ownerUser);
    for await (const { name } of paginate(async (page) => toItems(await users.list(page), "users"))) yield name;
  }

  async #askUser(user: string): Promise<void> {
    const object = this.#env.User.getByName(user);
    const listAgencies = paginate(async (page) => toItems(await object.listAgencies(page), "agencies"));
    await this.#tolerate(user, async () => {
      for await (const { id } of listAgencies) {
        const agency = formatAgencyKey(user, id);
        await this.#tolerate(`${user}/${id}`, () => this.#askAgency(agency));
      }
    });
  }

  async #askAgency(key: string): Promise<void> {
    await this.#ask(key);
    const object = this.#env.Agency.getByName(key);
    const listAgents = paginate(async (page) => toItems(await object.listAgents(page), "agents"));
    for await (const { name } of listAgents) await this.#askAgent(formatAgentObjectName(key, name));
  }

  /** Asks those who are in the index but in no list: they were deleted, or belong to a user who is not listed. */
  async #askOthers(): Promise<void> {
    // Listed first: agents may be created faster than they are asked, and what new ones need is kept anyway.
    const others: string[] = [];
    for (let page: string[] | undefined; !page || page.length > 0;) {
      page = await this.#index.listUnvisited(this.#visit, page?.at(-1) ?? "");
      others.push(...page.filter((key) => !this.#asked.has(key)));
    }
    for (const key of others)
      if (isAgentObjectName(key)) await this.#askAgent(key);
      else await this.#tolerate(key, () => this.#ask(key));
  }

  async #askAgent(key: string): Promise<void> {
    await this.#tolerate(key, () => this.#ask(key));
    this.progress.agents++;
  }

  async #ask(key: string): Promise<void> {
    this.#asked.add(key);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    if (!(await visitBlobOwner(this.#env, this.#index, key, this.#visit))) this.#isComplete = false;
  }

  /** What cannot be read is reported and does not stop the collection, but then nothing is deleted that it may need. */
  async #tolerate(name: string, ask: () => Promise<void>): Promise<void> {
    try {
      await ask();
    } catch (error) {
      console.error(`${name} could not be asked for its blobs`, error);
      this.#isComplete = false;
      if (this.progress.unreadable.length < maxListedAgents) this.progress.unreadable.push(name);
    }
  }
}

interface Page<Item> {
  items: Item[];
  next?: string | undefined;
}

function toItems<Key extends string, Item>(page: Record<Key, Item[]> & { next?: string }, key: Key): Page<Item> {
  return { items: page[key], next: page.next };
}

async function* paginate<Item>(
  read: (page: { limit: number; after?: string }) => Promise<Page<Item>>,
): AsyncGenerator<Item> {
  for (let after: string | undefined; ;) {
    const { items, next } = await read({ limit: pageSize, ...(after === undefined ? {} : { after }) });
    yield* items;
    if (next === undefined) return;
    after = next;
  }
}
