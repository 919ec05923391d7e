import { createStore, useStore } from "../api/store.ts";
import { recall, remember } from "./storage.ts";

const key = "open-agencies";
const openAgencies = createStore<ReadonlySet<string>>(new Set(recall(key)?.split(" ").filter(Boolean) ?? ["global"]));

/** The agencies that are expanded in the tree. */
export const useOpenAgencies = () => useStore(openAgencies);

export function setOpen(agency: string, open: boolean): void {
  if (openAgencies.get().has(agency) === open) return;
  const next = new Set(openAgencies.get());
  if (open) next.add(agency);
  else next.delete(agency);
  openAgencies.set(next);
  remember(key, [...next].join(" "));
}
