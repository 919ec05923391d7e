/** Maps whose changes can be taken back. Values are replaced, never changed. */
export class MemoryTables {
  /** How to take back what open transactions changed, latest last. */
  readonly #undo: (() => void)[] = [];
  #depth = 0;

  transaction<T>(work: () => T): T {
    const start = this.#undo.length;
    this.#depth++;
    try {
      return work();
    } catch (error) {
      for (const undo of this.#undo.splice(start).toReversed()) undo();
      throw error;
    } finally {
      this.#depth--;
      if (this.#depth === 0) this.#undo.length = 0;
    }
  }

  /** Undefined removes the key. */
  set<Key, Value>(table: Map<Key, Value>, key: Key, value: Value | undefined): void {
    const before = table.get(key);
    if (this.#depth > 0) this.#undo.push(() => replace(table, key, before));
    replace(table, key, value);
  }
}

function replace<Key, Value>(table: Map<Key, Value>, key: Key, value: Value | undefined): void {
  if (value === undefined) table.delete(key);
  else table.set(key, value);
}
