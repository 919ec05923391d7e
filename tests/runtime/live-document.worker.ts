import type { FileEdit } from "@thinkery/sdk";
import { workspaceLimitsSchema } from "@thinkery/sdk/internal";
import { DurableObject } from "cloudflare:workers";
import type { Blobs } from "../../packages/runtime/src/store/blobs/blobs.ts";
import { migrate } from "../../packages/runtime/src/store/migrate.ts";
import { thinkSchema } from "../../packages/runtime/src/store/schema/think.ts";
import { LiveDocument } from "../../packages/runtime/src/workspace/live/live-document.ts";
import { LiveStore } from "../../packages/runtime/src/workspace/live/live-store.ts";
import { Workspace } from "../../packages/runtime/src/workspace/workspace.ts";

interface OpenRequest {
  edits?: FileEdit[];
  /** A client's updates, in base64. */
  updates?: string[];
  /** SQL that damages the stored document before it is opened. */
  damage?: string;
  close?: boolean;
  /** Which SQL statement fails while the updates are applied. */
  failAtStatement?: number;
}

/** A workspace and its live document, reopened for every request. */
export class DocumentObject extends DurableObject {
  override async fetch(request: Request): Promise<Response> {
    const {
      edits = [],
      updates = [],
      damage,
      close = true,
      failAtStatement = 0,
    } = (await request.json()) as OpenRequest;
    let statementsLeft = 0;
    const { sql } = this.ctx.storage;
    const exec = (...args: Parameters<SqlStorage["exec"]>) => {
      if (--statementsLeft === 0) throw new Error("a statement failed");
      return sql.exec(...args);
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
    statementsLeft = failAtStatement;
    try {
      for (const update of updates) document.receive(Buffer.from(update, "base64"), "owner", () => {});
    } catch (error) {
      return Response.json({ failed: (error as Error).message });
    }
    const succeeded = statementsLeft > 0;
    statementsLeft = 0;
    const state = Buffer.from(document.encodeMissing()).toString("base64");
    if (close) document.close();
    const count = (expression: string) =>
      storage.sql.exec<{ count: number }>(`SELECT ${expression} AS count`).one().count;
    return Response.json({
      succeeded,
      damaged: document.isDamaged,
      state,
      files: Object.fromEntries([...files.iterateContents()].map(({ path, content }) => [path, content])),
      steps: count("(SELECT steps FROM live_docs)"),
      tail: count("(SELECT count(*) FROM live_updates)"),
      parts: count("(SELECT count(*) FROM live_snapshots WHERE part >= 0)"),
      maxRowBytes: count(
        "(SELECT max(length(data)) FROM (SELECT data FROM live_snapshots UNION ALL SELECT data FROM live_updates))",
      ),
    });
  }
}

export default {
  fetch(request: Request, env: { DocumentObject: DurableObjectNamespace }): Response | Promise<Response> {
    const name = new URL(request.url).pathname.slice(1);
    return name ? env.DocumentObject.getByName(name).fetch(request) : new Response("alive");
  },
};
