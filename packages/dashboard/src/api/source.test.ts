import { expect, test } from "vitest";
import { createSource } from "./source.ts";

function createControlledLoader() {
  const waiting: ((value: string) => void)[] = [];
  let requestCount = 0;
  const load = () => {
    requestCount += 1;
    return new Promise<string>((resolve) => waiting.push(resolve));
  };
  const respond = async (value: string) => {
    waiting.shift()?.(value);
    await new Promise((resolve) => setTimeout(resolve));
  };
  return { load, respond, countRequests: () => requestCount };
}

test("changes that arrive during a request trigger exactly one more request", async () => {
  const { load, respond, countRequests } = createControlledLoader();
  const source = createSource(load);
  source.subscribe(() => {});
  void source.reload();
  const last = source.reload();
  expect(countRequests()).toBe(1);
  await respond("old");
  expect(countRequests()).toBe(2);
  await respond("new");
  await last;
  expect(source.get()).toMatchObject({ value: "new", loading: false });
  expect(countRequests()).toBe(2);
});

test("a failed reload keeps the value and sets the error", async () => {
  const responses = [async () => "known", async () => Promise.reject(new Error("The host is not responding."))];
  const source = createSource(() => responses.shift()!());
  await source.reload();
  await source.reload();
  expect(source.get().value).toBe("known");
  expect(source.get().error?.message).toBe("The host is not responding.");
});

test("the host is followed from the first subscriber until the last one leaves", async () => {
  let open = 0;
  let notify: () => void = () => {};
  let loads = 0;
  const source = createSource(
    async () => ++loads,
    (changed, connection) => {
      open += 1;
      notify = changed;
      connection(true);
      return () => void (open -= 1);
    },
  );
  const unsubscribeFirst = source.subscribe(() => {});
  const unsubscribeSecond = source.subscribe(() => {});
  expect(open).toBe(1);
  expect(source.get().connected).toBe(true);
  await source.reload();
  const before = loads;
  notify();
  expect(loads).toBe(before + 1);
  unsubscribeFirst();
  expect(open).toBe(1);
  unsubscribeSecond();
  expect(open).toBe(0);
});
