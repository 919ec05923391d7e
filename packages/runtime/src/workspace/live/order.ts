import * as Y from "yjs";
import { iterateNewItems } from "./new-items.ts";

/**
 * Whether every new item of these clients is after its left origin and before its right origin. Honest clients never
 * violate this. Otherwise the position Yjs picks would depend on the order in which updates arrive, and documents would
 * diverge. Must be called within the transaction that applied the items.
 */
export function isInOrder(doc: Y.Doc, before: Map<number, number>, clients: ReadonlySet<number>): boolean {
  const order = new ItemOrder(doc.store);
  for (const { origin, rightOrigin } of iterateNewItems(doc, before, clients)) {
    if (origin && rightOrigin && !order.isBefore(origin, rightOrigin)) return false;
  }
  return true;
}

/** Neighbours are usually this close. Others are looked up in an index of their whole text. */
const maxSteps = 16;

/** Compares the positions of items in their texts. Passes each item only a few times, however many are compared. */
class ItemOrder {
  readonly #store: Y.Doc["store"];
  readonly #positions = new Map<Y.Item, number>();

  constructor(store: Y.Doc["store"]) {
    this.#store = store;
  }

  /** Compares two items of the same text. */
  isBefore(left: Y.ID, right: Y.ID): boolean {
    const last = Y.getItem(this.#store, right) as Y.Item | Y.GC;
    const first = Y.getItem(this.#store, left) as Y.Item | Y.GC;
    // The order of garbage-collected items is not visible.
    if (!(first instanceof Y.Item) || !(last instanceof Y.Item)) return true;
    if (first === last) return left.clock < right.clock;
    let item = first.right;
    for (let step = 0; step < maxSteps && item; step += 1, item = item.right) if (item === last) return true;
    return item !== null && this.#getPosition(first) < this.#getPosition(last);
  }

  #getPosition(item: Y.Item): number {
    if (!this.#positions.has(item)) {
      let next: Y.Item | null = item;
      while (next.left) next = next.left;
      for (; next; next = next.right) this.#positions.set(next, this.#positions.size);
    }
    return this.#positions.get(item) as number;
  }
}
