import type { NewEvent, NewTask, TaskChange, TaskQuery } from "@thinkery/sdk";
import { Redactor } from "@thinkery/sdk/internal";
import { DurableObject } from "cloudflare:workers";
import { AgentStore } from "../../packages/runtime/src/store/agent-store.ts";
import { migrate } from "../../packages/runtime/src/store/migrate.ts";
import { thinkSchema } from "../../packages/runtime/src/store/schema/think.ts";
import {
  planChange,
  type PlannedTask,
  planEnd,
  planStart,
  planTask,
} from "../../packages/runtime/src/store/task-changes.ts";
import type { StepContext } from "../../packages/runtime/src/turn/calls/step-context.ts";
import { openTasks } from "../../packages/runtime/src/turn/calls/tasks.ts";

interface TaskRequest {
  step: string;
  id?: string;
  events?: NewEvent[];
  task?: NewTask;
  metadata?: Record<string, unknown>;
  change?: TaskChange;
  assignedTo?: string;
  callId?: string;
  runId?: string;
  end?: Parameters<typeof planEnd>[2];
  query?: TaskQuery;
}

/** The tasks of an agent's store, driven step by step by a test. */
export class TaskStore extends DurableObject {
  #store: AgentStore;

  constructor(ctx: DurableObjectState, env: object) {
    super(ctx, env);
    migrate(ctx.storage, thinkSchema);
    this.#store = new AgentStore(ctx.storage, "global~test", new Redactor([]));
  }

  override async fetch(request: Request): Promise<Response> {
    const {
      step,
      id = "",
      events = [],
      task,
      metadata,
      change,
      assignedTo = "",
      end,
      query,
      callId = "",
      runId = "",
    } = (await request.json()) as TaskRequest;
    const { tasks } = this.#store;
    const options = { now: Date.now() };
    const steps: Record<string, () => unknown> = {
      record: () => void this.#store.record(events),
      create: () => this.#apply(planTask(tasks, task!, { ...options, ...(metadata ? { metadata } : {}) })),
      change: () => this.#apply(planChange(tasks, id, change!, options)),
      start: () => this.#apply(planStart(tasks, id, assignedTo, options)),
      end: () => {
        const planned = planEnd(tasks, id, end!, options);
        if (planned.length > 0) this.#store.record(planned);
        return tasks.get(id);
      },
      // As a tool does, in one call of a turn.
      createInCall: () => this.#open(callId, runId).create(task!),
      changeInCall: () => this.#open(callId, runId).update(id, change!),
      get: () => tasks.get(id),
      page: () => tasks.page(query ?? { limit: 100 }),
      graph: () => [...tasks.loadGraph([id]).tasks.keys()],
      open: () => ({ hasOpen: tasks.hasOpen, trees: tasks.listOpenTrees(10) }),
      rebuild: () => this.#store.rebuild(),
      reopen: () => {
        this.#store = new AgentStore(this.ctx.storage, "global~test", new Redactor([]));
      },
      clear: () => void this.#store.clear("owner"),
    };
    try {
      return Response.json((await steps[step]?.()) ?? null);
    } catch (error) {
      const { code, message } = error as Error & { code?: string };
      return Response.json({ refused: { code, message } });
    }
  }

  #open(callId: string, runId: string) {
    const step = {
      runId,
      store: this.#store,
      deps: { tools: { enable() {} } },
      record: (...events: NewEvent[]) => void (events.length > 0 && this.#store.record(events)),
    };
    return openTasks(callId, step as unknown as StepContext);
  }

  #apply({ task, affected, events }: PlannedTask) {
    if (events.length > 0) this.#store.record(events);
    return { ...task, affected: affected.map(({ id, status }) => `${id} ${status}`) };
  }
}

export default {
  fetch(request: Request, env: { TaskStore: DurableObjectNamespace<TaskStore> }): Promise<Response> | Response {
    if (request.method === "GET") return new Response("alive");
    return env.TaskStore.getByName(new URL(request.url).pathname).fetch(request);
  },
};
