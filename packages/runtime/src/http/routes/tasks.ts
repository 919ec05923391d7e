import { endpoints } from "@thinkery/sdk";
import type { Hono } from "hono";
import { requireAgent } from "../directory.ts";
import { type HonoEnv, route } from "../route.ts";

/** An agent's task graph. */
export function addTaskRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listTasks, async (call) => (await requireAgent(call)).taskGraph.list(call.query));

  route(app, endpoints.createTask, async (call) => {
    const task = await (await requireAgent(call)).taskGraph.create(call.body);
    return { ...task, taskId: task.id };
  });

  route(app, endpoints.updateTask, async (call) =>
    (await requireAgent(call)).taskGraph.update(call.params.task, call.body),
  );
}
