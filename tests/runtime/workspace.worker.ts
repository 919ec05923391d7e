import type { CommitResult, FileContent, FileEdit, CommitResponse, NewEvent, Origin } from "@thinkery/sdk";
import { workspaceLimitsSchema } from "@thinkery/sdk/internal";
import { DurableObject } from "cloudflare:workers";
import { completeWork } from "../../packages/runtime/src/host/fair-work.ts";
import type { Blobs } from "../../packages/runtime/src/store/blobs/blobs.ts";
import { migrate } from "../../packages/runtime/src/store/migrate.ts";
import { thinkSchema } from "../../packages/runtime/src/store/schema/think.ts";
import { applyPatch } from "../../packages/runtime/src/workspace/text/patch.ts";
import { Workspace } from "../../packages/runtime/src/workspace/workspace.ts";

const owner: Origin = { kind: "user", user: "owner" };

interface WorkspaceRequest {
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
  params?: never;
  path?: string;
  at?: { branch?: string; version?: number; after?: string };
  base?: number;
  name?: string;
  id?: number;
}

/** A workspace by itself, driven step by step by a test. */
export class WorkspaceObject extends DurableObject {
  readonly #events: NewEvent[] = [];
  #workspace: Workspace;

  constructor(ctx: DurableObjectState, env: object) {
    super(ctx, env);
    migrate(ctx.storage, thinkSchema);
    this.#workspace = this.#open({});
  }

  override async fetch(request: Request): Promise<Response> {
    const input = (await request.json()) as WorkspaceRequest;
    try {
      return Response.json((await this.#perform(input)) ?? null);
    } catch (error) {
      return Response.json(
        { errorCode: (error as { code?: string }).code ?? "threw", message: (error as Error).message },
        { status: 400 },
      );
    }
  }

  #perform({
    step,
    edits = [],
    origin = owner,
    options = {},
    params = {} as never,
    path = "",
    at = {},
    base = 0,
    name = "",
    id = 0,
  }: WorkspaceRequest): unknown {
    const files = this.#workspace;
    const steps: Record<string, () => unknown> = {
      limits: () => void (this.#workspace = this.#open(params)),
      commit: () => files.commit(edits, origin, options).version,
      rebase: () => omitPatches(completeWork(files.planRebase(edits, base, origin, options))),
      list: () => files.list(at),
      content: () => files.getContent(path, at),
      stat: () => files.stat(path, at),
      latest: () => files.latest(at.branch),
      contents: () => this.#readContents(at),
      versions: () => files.listVersions({ limit: 50, ...(params as object) }),
      diff: () => completeWork(files.planDiff(id, path || undefined)),
      revert: () => completeWork(files.planRevert(params, origin)),
      branch: () => completeWork(files.planBranch(params, origin)),
      branches: () => files.listBranches(),
      remove: () => completeWork(files.planBranchRemoval(name, origin)),
      merge: () => completeWork(files.planMerge(name, params, origin)),
      totals: () => [files.getTotals(at.branch), this.#open({}).getTotals(at.branch)],
      replay: () => this.#replay(at.branch ?? "main"),
      copies: () => this.ctx.storage.sql.exec("SELECT count(*) AS count FROM copies").one(),
      patches: () =>
        this.ctx.storage.sql
          .exec("SELECT count(*) AS count FROM changes WHERE patch IS NOT NULL AND before_copy IS NULL")
          .one(),
      events: () => this.#events,
      observe: () => this.#observe(edits, origin, options),
      failAtEachStatement: () => this.#failAtEachStatement(path as "commit", { edits, origin, options, params, name }),
      countStatements: () => this.#countStatements(edits, base, origin, options),
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

  /**
   * Repeats a step with the first, second, … SQL statement failing, until it succeeds. Returns the state before and after
   * each failure.
   */
  #failAtEachStatement(
    step: "commit" | "merge" | "revert" | "branch" | "remove",
    {
      edits,
      origin,
      options,
      params,
      name,
    }: Required<Pick<WorkspaceRequest, "edits" | "origin" | "options" | "params" | "name">>,
  ): unknown {
    const states: unknown[] = [];
    for (let failing = 1; ; failing += 1) {
      let statementsLeft = 0;
      const files = this.#open(
        {},
        this.#interceptStatements(() => {
          if (--statementsLeft === 0) throw new Error("a statement failed");
        }),
      );
      if (options.joins) files.commit([{ write: "typed", content: `${failing}` }], origin, options);
      const commits: unknown[] = [];
      files.subscribe((commit) => commits.push(commit));
      const { sql } = this.ctx.storage;
      const readState = () => ({
        contents: this.#readContents({}),
        versions: sql.exec("SELECT * FROM versions").toArray(),
        changes: sql.exec("SELECT * FROM changes").toArray(),
        branches: this.#workspace.listBranches(),
        totals: files.getTotals(),
        commits: [...commits],
        events: this.#events.length,
      });
      const before = readState();
      const steps = {
        commit: () => files.commit(edits, origin, options),
        merge: () => completeWork(files.planMerge(name, params, origin)),
        revert: () => completeWork(files.planRevert(params, origin)),
        branch: () => completeWork(files.planBranch(params, origin)),
        remove: () => completeWork(files.planBranchRemoval(name, origin)),
      };
      statementsLeft = failing;
      try {
        steps[step]();
        return states;
      } catch (error) {
        if ((error as Error).message !== "a statement failed") throw error;
      }
      statementsLeft = 0;
      states.push({ before, after: readState() });
    }
  }

  /** Counts the SQL statements of a rebase. */
  #countStatements(edits: FileEdit[], base: number, origin: Origin, options: object): number {
    let count = 0;
    const files = this.#open(
      {},
      this.#interceptStatements(() => (count += 1)),
    );
    completeWork(files.planRebase(edits, base, origin, options));
    return count;
  }

  #interceptStatements(onStatement: () => void): DurableObjectStorage {
    const { storage } = this.ctx;
    const exec = (...args: Parameters<SqlStorage["exec"]>) => {
      onStatement();
      return storage.sql.exec(...args);
    };
    return {
      sql: { exec },
      transactionSync: (work: () => unknown) => storage.transactionSync(work),
    } as unknown as DurableObjectStorage;
  }

  #readContents(at: { branch?: string; version?: number }): [string, FileContent | undefined][] {
    return this.#workspace.list(at).files.map(({ path }) => [path, this.#workspace.getContent(path, at)]);
  }

  /** Rebuilds the files from the stored changes. */
  #replay(branch: string): [string, FileContent][] {
    const { sql } = this.ctx.storage;
    const state = new Map<string, FileContent>();
    const rows = sql.exec<{ path: string; after: string | null; patch: string | null; after_copy: string | null }>(
      "SELECT path, after, patch, after_copy FROM changes WHERE branch = ? ORDER BY version",
      branch,
    );
    for (const { path, after, patch, after_copy: copy } of rows.toArray()) {
      const metadata =
        after === null ? undefined : (JSON.parse(after) as { blob?: string; size: number; mediaType: string });
      if (!metadata) state.delete(path);
      else if (metadata.blob !== undefined)
        state.set(path, { blob: metadata.blob, size: metadata.size, mediaType: metadata.mediaType });
      else if (patch !== null) state.set(path, applyPatch(state.get(path) as string, JSON.parse(patch)));
      else
        state.set(path, sql.exec<{ content: string }>("SELECT content FROM copies WHERE hash = ?", copy).one().content);
    }
    return [...state].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  #observe(edits: FileEdit[], origin: Origin, options: object): unknown {
    const commits: unknown[] = [];
    const unsubscribe = this.#workspace.subscribe((commit) => commits.push(commit));
    this.#workspace.commit(edits, origin, options);
    unsubscribe();
    return commits;
  }
}

export default {
  fetch(request: Request, env: { WorkspaceObject: DurableObjectNamespace }): Promise<Response> {
    return env.WorkspaceObject.getByName(new URL(request.url).pathname).fetch(request);
  },
};

function omitPatches({ version, overlaps }: CommitResult): CommitResponse {
  return { ...(version ? { version } : {}), overlaps };
}
