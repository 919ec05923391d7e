import type { Tasks } from "@thinkery/sdk";
import { isDone } from "../../store/change-graph.ts";
import { planChange, planTask } from "../../store/task-changes.ts";
import type { StepContext } from "./step-context.ts";

/** A model sees at most this many open trees. */
const maxListedTrees = 10;

/** Opens the agent's tasks for one tool call. */
export function openTasks(callId: string, { deps, runId, store, record }: StepContext): Tasks {
  const { tasks } = store;
  return {
    rootId: runId,
    create({ parentId = runId, type = "code", ...input }) {
      record();
      const known = findByCall();
      if (known) return known;
      const metadata = { callId };
      const { task, events } = planTask(tasks, { ...input, parentId, type }, { metadata, runId, now: Date.now() });
      record(...events);
      deps.tools.enable("tasks");
      return task;
    },
    update(id, change) {
      record();
      const current = tasks.get(id);
      if (current && isDone(current, change)) return { task: current, affected: [] };
      const { events, ...planned } = planChange(tasks, id, change, { runId, now: Date.now() });
      record(...events);
      return planned;
    },
    list: () => tasks.listOpenTrees(maxListedTrees),
  };

  /** A call that a crash interrupted is executed again. */
  function findByCall() {
    return tasks.listByTurn(runId).find(({ metadata }) => metadata?.callId === callId);
  }
}
