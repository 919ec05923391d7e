import type { TeamTask } from "@thinkery/sdk";
import { DurableObject } from "cloudflare:workers";
import { TeamTasks } from "../../packages/runtime/src/agency/team-tasks.ts";
import { migrate } from "../../packages/runtime/src/store/migrate.ts";
import { teamTaskMigrations } from "../../packages/runtime/src/store/schema/team-tasks.ts";
import type { StepResult, TeamTaskStep } from "./team-task-steps.ts";

/** The shared tasks of an agency by themselves; each request has a memory of its own, as after a crash. */
export class TaskObject extends DurableObject {
  override async fetch(request: Request): Promise<Response> {
    const steps = (await request.json()) as TeamTaskStep[];
    migrate(this.ctx.storage, { teamTasks: teamTaskMigrations });
    return Response.json(steps.map((step) => this.#run(step)));
  }

  #run({ now = 0, shows, ...step }: TeamTaskStep): StepResult {
    const changed: TeamTask[] = [];
    const assigned: string[] = [];
    const tasks = new TeamTasks({
      storage: this.ctx.storage,
      getClaimSeconds: () => 100,
      redact: (value) => JSON.parse(JSON.stringify(value).replaceAll("s3cret", "[redacted]")) as typeof value,
      onChange: (task) => changed.push(task),
      onAssigned(agent, { id, status }, by) {
        if (agent === "unreachable") throw new Error("The message cannot be posted.");
        assigned.push(`${id} ${status} to ${agent} by ${by.name}`);
      },
      now: () => now,
    });
    let outcome: Pick<StepResult, "result" | "refused">;
    try {
      outcome = { result: perform(tasks, step) ?? null };
    } catch (error) {
      const { code = "thrown", message } = error as Error & { code?: string };
      outcome = { refused: { code, message } };
    }
    const all = shows ? { tasks: tasks.list({ status: "all", limit: 500 }).tasks } : {};
    return { ...outcome, changed, assigned, ...all };
  }
}

function perform(
  tasks: TeamTasks,
  { step, id = "", by = { kind: "user", name: "ann" }, agent = "", key, task, change, query }: TeamTaskStep,
): unknown {
  switch (step) {
    case "create":
      return tasks.create(task!, by, key);
    case "claim":
      return tasks.claim(id, by);
    case "assign":
      return tasks.assign(id, agent, by);
    case "update":
      return tasks.update(id, change!, by);
    case "renew":
      return tasks.renewClaims(agent);
    case "forget":
      return tasks.forgetAgent(agent);
    case "expire":
      return tasks.releaseExpired();
    case "list":
      return tasks.list(query!);
    case "listForAgent":
      return tasks.listForAgent();
    case "holders":
      return tasks.listHolders();
  }
}

export default {
  fetch(request: Request, env: { TaskObject: DurableObjectNamespace<TaskObject> }): Promise<Response> | Response {
    if (request.method === "GET") return new Response("alive");
    return env.TaskObject.getByName(new URL(request.url).pathname).fetch(request);
  },
};
