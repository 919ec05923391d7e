import { createStore, useStore } from "../api/store.ts";
import { recall, remember } from "./storage.ts";

const key = "open-agencies";
const openAgencies = createStore<ReadonlySet<string>>(new Set(recall(key)?.split(" ").filter(Boolean) ?? ["global"]));

/** The agencies whose agents show in the tree. */
export const useOpenAgencies = () => useStore(openAgencies);

export function setOpen(agency: string, wanted: boolean): void {
  if (openAgencies.get().has(agency) === wanted) return;
  const next = new Set(openAgencies.get());
  if (wanted) next.add(agency);
  else next.delete(agency);
  openAgencies.set(next);
  remember(key, [...next].join(" "));
}
