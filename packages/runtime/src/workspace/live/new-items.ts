import * as Y from "yjs";

/** Yields the items these clients added since a state; garbage-collected ones are not included. */
export function* iterateNewItems(
  doc: Y.Doc,
  before: Map<number, number>,
  clients: ReadonlySet<number>,
): Generator<Y.Item> {
  for (const client of clients) {
    const structs = doc.store.clients.get(client) ?? [];
    const first = before.get(client) ?? 0;
    if (first >= Y.getState(doc.store, client)) continue;
    for (let index = Y.findIndexSS(structs, first); index < structs.length; index += 1) {
      const struct = structs[index] as Y.Item | Y.GC;
      if (struct instanceof Y.Item) yield struct;
    }
  }
}
