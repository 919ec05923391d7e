/** A task that is not finished, with the root of its tree. */
export interface OpenTask {
  id: string;
  root: string;
  dependencies: readonly string[];
}

/**
 * Returns the roots of these trees, of those of open `dependencies`, and of all trees that they are connected to by
 * dependencies between open tasks; and the tasks that open ones in them depend on, wherever they are.
 */
export function findConnected(
  open: readonly OpenTask[],
  start: readonly string[],
  dependencies: readonly string[],
): { roots: Set<string>; needed: Set<string> } {
  const byId = new Map(open.map((task) => [task.id, task]));
  const byRoot = new Map<string, OpenTask[]>();
  const dependents = new Map<string, OpenTask[]>();
  for (const task of open) {
    append(byRoot, task.root, task);
    for (const dependency of task.dependencies) if (byId.has(dependency)) append(dependents, dependency, task);
  }
  const roots = new Set(start);
  const needed = new Set(dependencies);
  const addTree = (id: string) => {
    const root = byId.get(id)?.root;
    if (root !== undefined) roots.add(root);
  };
  dependencies.forEach(addTree);
  // The set grows while it is iterated.
  for (const root of roots)
    for (const task of byRoot.get(root) ?? []) {
      for (const dependency of task.dependencies) {
        needed.add(dependency);
        addTree(dependency);
      }
      for (const { root: other } of dependents.get(task.id) ?? []) roots.add(other);
    }
  return { roots, needed };
}

function append<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
