import { createStore, type Store } from "../../api/store.ts";
import { getWorkspaceKey, type Workspace } from "../../api/workspace.ts";

/** Folders that were expanded or collapsed; not persisted across reloads. */
export type FoldState = ReadonlyMap<string, boolean>;

const stores = new Map<string, Store<FoldState>>();

export function getFoldStore(workspace: Workspace): Store<FoldState> {
  const key = getWorkspaceKey(workspace);
  let store = stores.get(key);
  if (!store) stores.set(key, (store = createStore<FoldState>(new Map())));
  return store;
}

export function setFoldersOpen(store: Store<FoldState>, paths: readonly string[], open: boolean): void {
  const before = store.get();
  if (paths.every((path) => before.get(path) === open)) return;
  store.set(new Map([...before, ...paths.map((path) => [path, open] as const)]));
}
