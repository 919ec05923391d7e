import * as Y from "yjs";
import { iterateNewItems } from "./new-items.ts";

/**
 * Is everything new that these clients have in a document behind what it says it is behind, and before what it says it is
 * before? No client of good will says otherwise; and where that is not so, the place where Yjs puts it depends on the
 * order in which updates come, so that not all would have the same. To be asked within the transaction that brought it.
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
  // Of what is gone with its file nobody sees the order.
  if (!(first instanceof Y.Item) || !(last instanceof Y.Item)) return true;
  if (first === last) return left.clock < right.clock;
  for (let item = first.right; item; item = item.right) if (item === last) return true;
  return false;
}
