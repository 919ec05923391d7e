import * as Y from "yjs";
import { iterateNewItems } from "./new-items.ts";

/**
 * Whether every new item of these clients is after its left origin and before its right origin. Honest clients never
 * violate this. Otherwise the position Yjs picks would depend on the order in which updates arrive, and documents would
 * diverge. Must be called within the transaction that applied the items.
 */
export function isInOrder(doc: Y.Doc, before: Map<number, number>, clients: ReadonlySet<number>): boolean {
  for (const { origin, rightOrigin } of iterateNewItems(doc, before, clients)) {
    if (origin && rightOrigin && !isBefore(doc.store, origin, rightOrigin)) return false;
  }
  return true;
}

function isBefore(store: Y.Doc["store"], left: Y.ID, right: Y.ID): boolean {
  const last = Y.getItem(store, right) as Y.Item | Y.GC;
  const first = Y.getItem(store, left) as Y.Item | Y.GC;
  // The order of garbage-collected items is not visible.
  if (!(first instanceof Y.Item) || !(last instanceof Y.Item)) return true;
  if (first === last) return left.clock < right.clock;
  for (let item = first.right; item; item = item.right) if (item === last) return true;
  return false;
}
