import { expect, test } from "vitest";
import type { CodeValues } from "../../store/code/code-values.ts";
import { StorageDraft } from "./storage-draft.ts";

function createValues(stored: Record<string, string>): CodeValues & { stored: Map<string, string> } {
  const values = new Map(Object.entries(stored));
  const compare = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other));
  return {
    stored: values,
    get: (key: string) => values.get(key),
    set: (key: string, json: string) => void values.set(key, json),
    delete: (key: string) => void values.delete(key),
    list: (prefix: string, after: string, limit: number) =>
      [...values]
        .filter(([key]) => key.startsWith(prefix) && compare(key, after) > 0)
        .sort(([one], [other]) => compare(one, other))
        .slice(0, limit)
        .map(([key, json]) => ({ key, chars: json.length })),
    measure: () => ({ entries: values.size, chars: [...values.values()].join("").length }),
  } as unknown as CodeValues & { stored: Map<string, string> };
}

/** Lists all keys, page by page. */
function listKeys(draft: StorageDraft, prefix: string, limit: number): string[] {
  const keys: string[] = [];
  for (let after = ""; ;) {
    const { entries, next } = draft.list({ prefix, after, limit });
    keys.push(...entries.map(({ key }) => key));
    if (next === undefined) return keys;
    after = next;
  }
}

test("changes are seen at once and written with the commit", () => {
  const values = createValues({ a: "1" });
  const draft = new StorageDraft(values);
  draft.set("b", { deep: [true] });
  expect(draft.delete("a")).toEqual({ existed: true });
  expect(draft.delete("c")).toEqual({ existed: false });
  expect([draft.get("a"), draft.get("b")]).toEqual([{}, { value: { deep: [true] } }]);
  expect([...values.stored.keys()]).toEqual(["a"]);
  draft.commit();
  expect([...values.stored]).toEqual([["b", '{"deep":[true]}']]);
});

test.each([1, 2, 3, 7])("lists of %i show stored and changed keys once each, in order", (limit) => {
  const stored = Object.fromEntries(["a/1", "a/2", "a/3", "a/5", "a/9", "b/1", "a/é", "a/😀"].map((key) => [key, "0"]));
  const draft = new StorageDraft(createValues(stored));
  for (const key of ["a/4", "a/0", "a/é2", "c"]) draft.set(key, key);
  for (const key of ["a/2", "a/9", "a/7"]) draft.delete(key);
  expect(listKeys(draft, "a/", limit)).toEqual(["a/0", "a/1", "a/3", "a/4", "a/5", "a/é", "a/é2", "a/😀"]);
});

test("values and requests that store too much are refused", () => {
  const draft = new StorageDraft(createValues({}));
  expect(() => draft.set("x", "x".repeat(1024 * 1024))).toThrow("may have at most 1048576");
  const large = "x".repeat(1_000_000);
  for (let index = 0; index < 16; index++) draft.set(`key-${index}`, large);
  expect(() => draft.set("one more", large)).toThrow("A request can store at most");
  // Replacing one is no growth.
  draft.set("key-0", large);
});
