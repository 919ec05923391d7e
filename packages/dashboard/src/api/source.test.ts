import { expect, test } from "vitest";
import { createSource } from "./source.ts";

function createHeldLoads() {
  const waiting: ((value: string) => void)[] = [];
  let asked = 0;
  const load = () => {
    asked += 1;
    return new Promise<string>((resolve) => waiting.push(resolve));
  };
  const answer = async (value: string) => {
    waiting.shift()?.(value);
    await new Promise((resolve) => setTimeout(resolve));
  };
  return { load, answer, asked: () => asked };
}

test("news that arrives during a request makes exactly one more request", async () => {
  const { load, answer, asked } = createHeldLoads();
  const source = createSource(load);
  source.subscribe(() => {});
  void source.reload();
  const last = source.reload();
  expect(asked()).toBe(1);
  await answer("old");
  expect(asked()).toBe(2);
  await answer("new");
  await last;
  expect(source.get()).toMatchObject({ value: "new", loading: false });
  expect(asked()).toBe(2);
});

test("a failed reload keeps what was known and says what went wrong", async () => {
  const answers = [async () => "known", async () => Promise.reject(new Error("The host does not answer."))];
  const source = createSource(() => answers.shift()!());
  await source.reload();
  await source.reload();
  expect(source.get().value).toBe("known");
  expect(source.get().error?.message).toBe("The host does not answer.");
});

test("the host is followed from the first looker to the last", async () => {
  let open = 0;
  let tell: () => void = () => {};
  let loads = 0;
  const source = createSource(
    async () => ++loads,
    (changed, connection) => {
      open += 1;
      tell = changed;
      connection(true);
      return () => void (open -= 1);
    },
  );
  const first = source.subscribe(() => {});
  const second = source.subscribe(() => {});
  expect(open).toBe(1);
  expect(source.get().connected).toBe(true);
  await source.reload();
  const before = loads;
  tell();
  expect(loads).toBe(before + 1);
  first();
  expect(open).toBe(1);
  second();
  expect(open).toBe(0);
});
