import { DurableObject } from "cloudflare:workers";
import { FeedbackLog } from "../../packages/runtime/src/agency/feedback-log.ts";
import { migrate } from "../../packages/runtime/src/store/migrate.ts";
import { feedbackMigrations } from "../../packages/runtime/src/store/schema/feedback.ts";

/** The feedback of an agency by itself. Adds as much as a request asks for, and returns the newest and how much is kept. */
export class FeedbackObject extends DurableObject {
  override async fetch(request: Request): Promise<Response> {
    const { from, count } = (await request.json()) as { from: number; count: number };
    migrate(this.ctx.storage, { feedback: feedbackMigrations });
    const log = new FeedbackLog(this.ctx.storage.sql);
    for (let index = from; index < from + count; index++)
      log.add({ message: `message ${index}` }, { kind: "agent", name: "alice" }, { key: `key ${index}` });
    const newest = log.list({ limit: 1 }).feedback[0];
    const { kept, oldest } = this.ctx.storage.sql
      .exec<{ kept: number; oldest: number }>("SELECT count(*) AS kept, min(number) AS oldest FROM feedback")
      .one();
    return Response.json({ newest: newest?.message, kept, oldest });
  }
}

export default {
  fetch(request: Request, env: { FeedbackObject: DurableObjectNamespace<FeedbackObject> }) {
    if (request.method === "GET") return new Response("alive");
    return env.FeedbackObject.getByName("log").fetch(request);
  },
};
