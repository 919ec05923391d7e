import type { TeamFrame } from "@thinkery/sdk";
import { expect, onTestFinished, test, vi } from "vitest";
import { createFollowedSource } from "./follow-frames.ts";
import { createLinkDouble } from "./team-double.ts";

/** A list of the names of removed channels, which are the simplest frames. */
function follow(load: () => Promise<string[]>) {
  const { link, ...double } = createLinkDouble();
  onTestFinished(link.retain());
  const loads = vi.fn(load);
  const source = createFollowedSource({
    link,
    load: loads,
    reduce: (names: string[], frame: TeamFrame) => (frame.type === "channel-removed" ? [...names, frame.name] : names),
  });
  onTestFinished(source.subscribe(() => {}));
  const remove = (name: string) => double.send({ type: "channel-removed", name });
  return { ...double, source, loads, remove };
}

test("a value is loaded once the connection is open, and then changed by frames", async () => {
  const { source, loads, sync, remove } = follow(async () => ["loaded"]);
  await new Promise((resolve) => setTimeout(resolve));
  expect(loads).not.toHaveBeenCalled();
  sync();
  await vi.waitFor(() => expect(source.get().value).toEqual(["loaded"]));
  remove("a");
  expect(source.get().value).toEqual(["loaded", "a"]);
  expect(loads).toHaveBeenCalledTimes(1);
});

test("frames that arrive while a value loads are applied to it", async () => {
  let respond = (_names: string[]) => {};
  const { source, loads, sync, remove } = follow(() => new Promise((resolve) => (respond = resolve)));
  sync();
  await vi.waitFor(() => expect(loads).toHaveBeenCalled());
  remove("a");
  respond(["loaded"]);
  await vi.waitFor(() => expect(source.get().value).toEqual(["loaded", "a"]));
});

test("after every further connection the value is loaded again", async () => {
  const { source, loads, sync, setState } = follow(async () => ["loaded"]);
  sync();
  await vi.waitFor(() => expect(source.get().value).toBeDefined());
  setState("lost");
  expect(source.get().connected).toBe(false);
  sync();
  await vi.waitFor(() => expect(loads).toHaveBeenCalledTimes(2));
  expect(source.get().connected).toBe(true);
});

test("a value is loaded also if no connection comes about", async () => {
  const { source, setState } = follow(async () => ["loaded"]);
  setState("lost");
  await vi.waitFor(() => expect(source.get().value).toEqual(["loaded"]));
});
