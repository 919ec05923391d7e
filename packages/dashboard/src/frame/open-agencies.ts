import { createStore, useStore } from "../api/store.ts";
import { recall, remember } from "./remembered.ts";

const key = "open-agencies";
const open = createStore<ReadonlySet<string>>(new Set(recall(key)?.split(" ").filter(Boolean) ?? ["global"]));

/** The agencies whose agents show in the tree. */
export const useOpenAgencies = () => useStore(open);

export function setOpen(agency: string, wanted: boolean): void {
  if (open.get().has(agency) === wanted) return;
  const next = new Set(open.get());
  if (wanted) next.add(agency);
  else next.delete(agency);
  open.set(next);
  remember(key, [...next].join(" "));
}
