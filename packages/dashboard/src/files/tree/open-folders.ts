import { createStore, type Store } from "../../api/store.ts";

/** Which folders somebody has opened or closed by hand, for as long as the page is there. */
export type Folds = ReadonlyMap<string, boolean>;

const kept = new Map<string, Store<Folds>>();

export function foldsOf(agency: string, agent: string): Store<Folds> {
  const key = `${agency}~${agent}`;
  let store = kept.get(key);
  if (!store) kept.set(key, (store = createStore<Folds>(new Map())));
  return store;
}

export function fold(store: Store<Folds>, paths: readonly string[], open: boolean): void {
  const before = store.get();
  if (paths.every((path) => before.get(path) === open)) return;
  store.set(new Map([...before, ...paths.map((path) => [path, open] as const)]));
}
