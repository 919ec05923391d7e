import { DurableObject } from "cloudflare:workers";
import { ScheduleBook } from "../../packages/runtime/src/schedules/schedule-book.ts";
import { migrate } from "../../packages/runtime/src/store/migrate.ts";
import { scheduleMigrations } from "../../packages/runtime/src/store/schema/schedules.ts";

/** The schedules of an agent by themselves, each request with a memory of its own, as after a crash. */
export class BookObject extends DurableObject {
  override async fetch(request: Request): Promise<Response> {
    const { step, id, key } = (await request.json()) as { step: string; id: string; key?: string };
    migrate(this.ctx.storage, { schedules: scheduleMigrations });
    const admitted: string[] = [];
    const book = new ScheduleBook({
      storage: this.ctx.storage,
      wakeAt: async () => {},
      getOwner: () => "owner",
      redact: (value) => value,
      admit: async (message) => ({ runId: `turn-${admitted.push(message.key)}` }),
      getOutcomes: async () => ({}),
    });
    const yearly = { when: "0 0 1 1 *", input: "Hi", missed: "once", overlap: "queue" } as const;
    const steps: Record<string, () => unknown> = {
      create: () => book.create(yearly, { user: "owner" }),
      run: () => book.run(id, key),
      runs: () => book.listRuns(id, { limit: 100 }),
    };
    return Response.json({ result: await steps[step]?.(), admitted });
  }
}

export default {
  fetch(request: Request, env: { BookObject: DurableObjectNamespace<BookObject> }): Promise<Response> | Response {
    if (request.method === "GET") return new Response("alive");
    return env.BookObject.getByName(new URL(request.url).pathname).fetch(request);
  },
};
