import { expect, test } from "vitest";
import { createPersistedObject } from "./persisted-object.ts";

function open(development: boolean) {
  const written: [string, unknown][] = [];
  const value = { count: 1, list: [1, 2], deep: { inner: { word: "a" } } };
  const state = createPersistedObject<Record<string, any>>({
    name: "state",
    value,
    development,
    write: (key, part) => written.push([key, part]),
  });
  return { state, written };
}

test("an assigned value is written and copied", () => {
  const { state, written } = open(true);
  const list = [3];
  state.list = list;
  list.push(4);
  state.count = 2;
  delete state.deep;
  expect(written).toEqual([
    ["list", [3]],
    ["count", 2],
    ["deep", undefined],
  ]);
  expect({ ...state }).toEqual({ count: 2, list: [3] });
});

test("in development, a change in place throws an error that names the field", () => {
  const { state, written } = open(true);
  expect(() => state.list.push(3)).toThrow(/^state\.list\.2 was changed in place.*Assign a new value: state\.list =/);
  expect(() => (state.deep.inner.word = "b")).toThrow("state.deep.inner.word was changed in place");
  expect(() => delete state.deep.inner).toThrow("state.deep.inner was changed in place");
  expect(() => state.list.sort()).toThrow("state.list.");
  expect(() => Object.assign(state.deep, { x: 1 })).toThrow("state.deep.x");
  expect(written).toEqual([]);
  expect(JSON.stringify(state)).toBe('{"count":1,"list":[1,2],"deep":{"inner":{"word":"a"}}}');
});

test("outside development, nested values are frozen", () => {
  const { state } = open(false);
  expect(() => state.list.push(3)).toThrow(TypeError);
  expect(() => (state.deep.inner.word = "b")).toThrow(TypeError);
  state.list = [9];
  expect(state.list).toEqual([9]);
});

test("without write, nothing can be assigned", () => {
  const run = createPersistedObject<Record<string, any>>({ name: "run", value: { step: 1 }, development: true });
  expect(() => (run.step = 2)).toThrow("run.step cannot be set: run is read-only, derived from the agent's log.");
});

test("a function is rejected with its path", () => {
  const { state } = open(true);
  expect(() => (state.run = () => 1)).toThrow("state.run cannot be stored: it is a function.");
});

test("values that are not JSON or are too large, and too many keys, are rejected with their path", () => {
  const { state, written } = open(true);
  const loop: { self?: unknown } = {};
  loop.self = loop;
  expect(() => (state.loop = loop)).toThrow("state.loop cannot be stored as JSON: ");
  expect(() => (state.big = 1n)).toThrow("state.big cannot be stored as JSON: ");
  expect(() => (state.much = "x".repeat(65_535))).toThrow(
    "state.much has 65537 characters as JSON; the maximum is 65536.",
  );
  for (let number = 0; number < 61; number++) state[`key_${number}`] = number;
  expect(() => (state.more = 1)).toThrow("state.more cannot be added: state already has 64 keys, the maximum.");
  state.key_0 = "again";
  expect(written).toHaveLength(62);
});

test("Object.freeze throws and changes nothing", () => {
  const { state, written } = open(true);
  expect(() => Object.freeze(state)).toThrow(TypeError);
  expect(Object.keys(state)).toEqual(["count", "list", "deep"]);
  expect(written).toEqual([]);
});
