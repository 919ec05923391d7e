import type { FileEdit } from "@thinkery/sdk";
import { workspaceLimitsSchema } from "@thinkery/sdk/internal";
import { DurableObject } from "cloudflare:workers";
import type { Blobs } from "../../packages/runtime/src/store/blobs/blobs.ts";
import { migrate } from "../../packages/runtime/src/store/migrate.ts";
import { thinkSchema } from "../../packages/runtime/src/store/schema/think.ts";
import { LiveDocument } from "../../packages/runtime/src/workspace/live/live-document.ts";
import { LiveStore } from "../../packages/runtime/src/workspace/live/live-store.ts";
import { Workspace } from "../../packages/runtime/src/workspace/workspace.ts";

interface StepRequest {
  edits?: FileEdit[];
  /** Updates of a client, each in base64. */
  updates?: string[];
  /** What is done to the stored document before it is opened. */
  damage?: string;
  close?: boolean;
  /** The statement that fails while the updates are taken. */
  failing?: number;
}

/** A workspace and its live document, opened anew for every request. */
export class Desk extends DurableObject {
  override async fetch(request: Request): Promise<Response> {
    const { edits = [], updates = [], damage, close = true, failing = 0 } = (await request.json()) as StepRequest;
    let left = 0;
    const { sql } = this.ctx.storage;
    const exec = (...given: Parameters<SqlStorage["exec"]>) => {
      if (--left === 0) throw new Error("a statement failed");
      return sql.exec(...given);
    };
    const storage = {
      sql: { exec },
      transactionSync: (work: () => unknown) => this.ctx.storage.transactionSync(work),
    } as unknown as DurableObjectStorage;
    migrate(storage, thinkSchema);
    const files = new Workspace({ storage, blobs: {} as Blobs, limits: workspaceLimitsSchema.parse({}), record() {} });
    if (edits.length > 0) files.commit(edits, { kind: "agent" });
    if (damage) storage.sql.exec(damage);
    const document = new LiveDocument({ branch: "main", files, store: new LiveStore(storage, "main") });
    left = failing;
    try {
      for (const update of updates) document.receive(Buffer.from(update, "base64"), "owner", () => {});
    } catch (error) {
      return Response.json({ failed: (error as Error).message });
    }
    const isOver = left > 0;
    left = 0;
    const state = Buffer.from(document.encodeMissing()).toString("base64");
    if (close) document.close();
    const count = (what: string) => storage.sql.exec<{ count: number }>(`SELECT ${what} AS count`).one().count;
    return Response.json({
      isOver,
      damaged: document.isDamaged,
      state,
      files: Object.fromEntries([...files.iterateContents()].map(({ path, content }) => [path, content])),
      tail: count("(SELECT count(*) FROM live_updates)"),
      parts: count("(SELECT count(*) FROM live_snapshots WHERE part >= 0)"),
      longest: count(
        "(SELECT max(length(data)) FROM (SELECT data FROM live_snapshots UNION ALL SELECT data FROM live_updates))",
      ),
    });
  }
}

export default {
  fetch(request: Request, env: { Desk: DurableObjectNamespace }): Response | Promise<Response> {
    const name = new URL(request.url).pathname.slice(1);
    return name ? env.Desk.getByName(name).fetch(request) : new Response("alive");
  },
};
