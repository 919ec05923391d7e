import type { TeamTask } from "@thinkery/sdk";

/** Returns the tasks that are wanted, with everything above them. */
export function keepTrees(tasks: readonly TeamTask[], isWanted: (task: TeamTask) => boolean): TeamTask[] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const kept = new Set<string>();
  for (const task of tasks) {
    if (!isWanted(task)) continue;
    for (let one: TeamTask | undefined = task; one && !kept.has(one.id); one = byId.get(one.parentId ?? ""))
      kept.add(one.id);
  }
  return tasks.filter(({ id }) => kept.has(id));
}
