import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { routes } from "../routes.ts";
import {
  createdTaskSchema,
  newTaskSchema,
  taskChangeSchema,
  taskListSchema,
  taskQuerySchema,
  taskSchema,
} from "../task.ts";
import { agentParams } from "./turns.ts";

/** Endpoints for an agent's task graph. */
export const taskEndpoints = {
  listTasks: defineEndpoint({
    ...routes.listTasks,
    access: "read",
    summary: "List an agent's tasks: open trees and recent finished ones, or the archive. Pages count trees.",
    params: agentParams,
    query: taskQuerySchema,
    response: taskListSchema,
  }),
  createTask: defineEndpoint({
    ...routes.createTask,
    access: "chat",
    summary: "Create a task: a subtask of another one, or the root of a new tree.",
    params: agentParams,
    body: newTaskSchema,
    status: 201,
    response: createdTaskSchema,
  }),
  updateTask: defineEndpoint({
    ...routes.updateTask,
    access: "chat",
    summary: "Start, complete, fail, cancel, block or release a task, or change what it depends on.",
    params: agentParams.extend({ task: z.string().min(1).max(200) }),
    body: taskChangeSchema,
    response: taskSchema,
  }),
} as const;
