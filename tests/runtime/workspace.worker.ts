import type { CommitResult, FileContent, FileEdit, CommitResponse, NewEvent, Origin } from "@thinkery/sdk";
import { workspaceLimitsSchema } from "@thinkery/sdk/internal";
import { DurableObject } from "cloudflare:workers";
import type { Blobs } from "../../packages/runtime/src/store/blobs/blobs.ts";
import { migrate } from "../../packages/runtime/src/store/migrate.ts";
import { thinkSchema } from "../../packages/runtime/src/store/schema/think.ts";
import { applyPatch } from "../../packages/runtime/src/workspace/text/patch.ts";
import { Workspace } from "../../packages/runtime/src/workspace/workspace.ts";

const owner: Origin = { kind: "user", user: "owner" };

interface StepRequest {
  step: string;
  edits?: FileEdit[];
  origin?: Origin;
  options?: {
    branch?: string;
    joins?: boolean;
    dropInvalid?: boolean;
    key?: string;
    seen?: boolean;
    expected?: Record<string, string | null>;
  };
  order?: never;
  path?: string;
  at?: { branch?: string; version?: number; after?: string };
  base?: number;
  name?: string;
  id?: number;
}

/** A workspace by itself, to be changed and looked into. */
export class Desk extends DurableObject {
  readonly #events: NewEvent[] = [];
  #workspace: Workspace;

  constructor(ctx: DurableObjectState, env: object) {
    super(ctx, env);
    migrate(ctx.storage, thinkSchema);
    this.#workspace = this.#open({});
  }

  override async fetch(request: Request): Promise<Response> {
    const asked = (await request.json()) as StepRequest;
    try {
      return Response.json((await this.#take(asked)) ?? null);
    } catch (error) {
      return Response.json(
        { refused: (error as { code?: string }).code ?? "threw", message: (error as Error).message },
        { status: 400 },
      );
    }
  }

  #take({
    step,
    edits = [],
    origin = owner,
    options = {},
    order = {} as never,
    path = "",
    at = {},
    base = 0,
    name = "",
    id = 0,
  }: StepRequest): unknown {
    const files = this.#workspace;
    const steps: Record<string, () => unknown> = {
      limits: () => void (this.#workspace = this.#open(order)),
      commit: () => files.commit(edits, origin, options).version,
      // With what a caller beyond this object is told: what changed, and whether it was made at all.
      request: () => files.commit(edits, origin, options),
      land: () => toLanded(files.rebaseEdits(edits, base, origin, options)),
      list: () => files.list(at),
      content: () => files.getContent(path, at),
      stat: () => files.stat(path, at),
      latest: () => files.latest(at.branch),
      whole: () => this.#whole(at),
      versions: () => files.listVersions({ limit: 50, ...(order as object) }),
      diff: () => files.diff(id, path || undefined),
      revert: () => files.revert(order, origin),
      branch: () => files.createBranch(order, origin),
      branches: () => files.listBranches(),
      remove: () => files.removeBranch(name, origin),
      merge: () => files.merge(name, order, origin),
      totals: () => [files.getTotals(at.branch), this.#open({}).getTotals(at.branch)],
      replay: () => this.#replay(at.branch ?? "main"),
      copies: () => this.ctx.storage.sql.exec("SELECT count(*) AS count FROM copies").one(),
      patches: () =>
        this.ctx.storage.sql
          .exec("SELECT count(*) AS count FROM changes WHERE patch IS NOT NULL AND before_copy IS NULL")
          .one(),
      events: () => this.#events,
      followed: () => this.#follow(edits, origin, options),
      without: () => this.#failing(path as "commit", { edits, origin, options, order, name }),
      statements: () => this.#statements(edits, base, origin, options),
      sql: () => this.ctx.storage.sql.exec(path).toArray(),
      age: () => void this.ctx.storage.sql.exec("UPDATE versions SET until = until - ?, at = at - ?", id, id),
    };
    return steps[step]?.();
  }

  #open(limits: object, storage = this.ctx.storage): Workspace {
    return new Workspace({
      storage,
      blobs: {} as Blobs,
      limits: workspaceLimitsSchema.parse(limits),
      record: (event) => {
        storage.sql.exec("SELECT 1");
        this.#events.push(event);
      },
    });
  }

  /** Does something again and again, each time with another statement that fails, until none does. Answers what there was before and after each. */
  #failing(
    step: "commit" | "merge" | "revert" | "branch" | "remove",
    {
      edits,
      origin,
      options,
      order,
      name,
    }: Required<Pick<StepRequest, "edits" | "origin" | "options" | "order" | "name">>,
  ): unknown {
    const states: unknown[] = [];
    for (let failing = 1; ; failing += 1) {
      let left = 0;
      const files = this.#open(
        {},
        this.#watched(() => {
          if (--left === 0) throw new Error("a statement failed");
        }),
      );
      if (options.joins) files.commit([{ write: "typed", content: `${failing}` }], origin, options);
      const told: unknown[] = [];
      files.subscribe((commit) => told.push(commit));
      const { sql } = this.ctx.storage;
      const state = () => ({
        whole: this.#whole({}),
        versions: sql.exec("SELECT * FROM versions").toArray(),
        changes: sql.exec("SELECT * FROM changes").toArray(),
        branches: this.#workspace.listBranches(),
        totals: files.getTotals(),
        told: [...told],
        events: this.#events.length,
      });
      const before = state();
      const works = {
        commit: () => files.commit(edits, origin, options),
        merge: () => files.merge(name, order, origin),
        revert: () => files.revert(order, origin),
        branch: () => files.createBranch(order, origin),
        remove: () => files.removeBranch(name, origin),
      };
      left = failing;
      try {
        works[step]();
        return states;
      } catch (error) {
        if ((error as Error).message !== "a statement failed") throw error;
      }
      left = 0;
      states.push({ before, after: state() });
    }
  }

  /** How many statements it takes to bring edits to the files of now. */
  #statements(edits: FileEdit[], base: number, origin: Origin, options: object): number {
    let count = 0;
    this.#open(
      {},
      this.#watched(() => (count += 1)),
    ).rebaseEdits(edits, base, origin, options);
    return count;
  }

  #watched(onStatement: () => void): DurableObjectStorage {
    const { storage } = this.ctx;
    const exec = (...given: Parameters<SqlStorage["exec"]>) => {
      onStatement();
      return storage.sql.exec(...given);
    };
    return {
      sql: { exec },
      transactionSync: (work: () => unknown) => storage.transactionSync(work),
    } as unknown as DurableObjectStorage;
  }

  #whole(at: { branch?: string; version?: number }): [string, FileContent | undefined][] {
    return this.#workspace.list(at).files.map(({ path }) => [path, this.#workspace.getContent(path, at)]);
  }

  /** Does everything again that the history says, from nothing. */
  #replay(branch: string): [string, FileContent][] {
    const { sql } = this.ctx.storage;
    const state = new Map<string, FileContent>();
    const rows = sql.exec<{ path: string; after: string | null; patch: string | null; after_copy: string | null }>(
      "SELECT path, after, patch, after_copy FROM changes WHERE branch = ? ORDER BY version",
      branch,
    );
    for (const { path, after, patch, after_copy: copy } of rows.toArray()) {
      const facts =
        after === null ? undefined : (JSON.parse(after) as { blob?: string; size: number; mediaType: string });
      if (!facts) state.delete(path);
      else if (facts.blob !== undefined)
        state.set(path, { blob: facts.blob, size: facts.size, mediaType: facts.mediaType });
      else if (patch !== null) state.set(path, applyPatch(state.get(path) as string, JSON.parse(patch)));
      else
        state.set(path, sql.exec<{ content: string }>("SELECT content FROM copies WHERE hash = ?", copy).one().content);
    }
    return [...state].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  #follow(edits: FileEdit[], origin: Origin, options: object): unknown {
    const heard: unknown[] = [];
    const stop = this.#workspace.subscribe((commit) => heard.push(commit));
    this.#workspace.commit(edits, origin, options);
    stop();
    return heard;
  }
}

export default {
  fetch(request: Request, env: { Desk: DurableObjectNamespace }): Promise<Response> {
    return env.Desk.getByName(new URL(request.url).pathname).fetch(request);
  },
};

function toLanded({ version, overlaps }: CommitResult): CommitResponse {
  return { ...(version ? { version } : {}), overlaps };
}
