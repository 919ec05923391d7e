import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTempFolder } from "./fixture.ts";
import { type ProcessLimits, isolateCommand, describeIsolation, toInnerExit, probeIsolation } from "./isolation.ts";

/** Programs in place of the real ones. */
function createPrograms() {
  const folder = createTempFolder();
  const put = (name: string, source: string) => {
    writeFileSync(join(folder, name), `#!/bin/sh\n${source}\n`, { mode: 0o755 });
    return join(folder, name);
  };
  return {
    workerd: put("workerd", "exit 0"),
    // What follows its options is run.
    prlimit: put("prlimit", `while [ "\${1#--}" != "$1" ]; do shift; done; exec "$@"`),
    bubblewrap: put("bwrap", "exit 0"),
    bad: put("bad", "echo it is forbidden >&2; exit 1"),
  };
}

test("a wall behind which workerd does not start is left out, and it is said why", async () => {
  const { workerd, prlimit, bubblewrap, bad } = createPrograms();
  const found = async (limiter: string, path: string) => {
    const walls = await probeIsolation(workerd, { prlimit: limiter, bubblewrap: { path } });
    return { ...walls, missing: walls.missing.join(" ") };
  };
  expect(await found(prlimit, bubblewrap)).toEqual({ prlimit, bubblewrap, missing: "" });
  expect(await found(prlimit, bad)).toEqual({
    prlimit,
    missing: expect.stringContaining("does not start behind bubblewrap here (it is forbidden)."),
  });
  expect(await found(bad, bubblewrap)).toEqual({
    bubblewrap,
    missing: expect.stringContaining("does not start behind prlimit and bubblewrap here"),
  });
  expect(await found(bad, bad)).toEqual({ missing: expect.stringContaining("behind prlimit here (it is forbidden).") });
});

test("what is not there is said in the words of whoever looked for it", async () => {
  const { workerd, prlimit } = createPrograms();
  const walls = await probeIsolation(workerd, { prlimit, bubblewrap: { missing: "Get some bubblewrap." } });
  expect(describeIsolation(walls)).toBe("Sandboxes run behind prlimit. Get some bubblewrap.");
  const without = await probeIsolation(workerd, {
    prlimit: undefined,
    bubblewrap: { missing: "Get some bubblewrap." },
  });
  expect(describeIsolation(without)).toBe(
    "Sandboxes run without further walls. prlimit is not installed; it is a part of util-linux. Get some bubblewrap.",
  );
});

const allowed: ProcessLimits = { dataBytes: 1000, cpuSeconds: 5, readable: ["/config"], folder: "/own" };

test("a command goes behind the walls that are there", () => {
  expect(isolateCommand({ missing: [] }, allowed, ["/workerd", "serve"])).toEqual(["/workerd", "serve"]);
  const both = isolateCommand({ prlimit: "/p", bubblewrap: "/b", missing: [] }, allowed, ["/workerd", "serve"]);
  expect(both.slice(0, 3)).toEqual(["/p", "--data=1000", "--cpu=5:15"]);
  expect(both.slice(both.indexOf("/b"))).toEqual(
    expect.arrayContaining(["--unshare-all", "--die-with-parent", "--clearenv"]),
  );
  expect(both.join(" ")).toContain("--ro-bind /workerd /workerd --ro-bind /config /config --bind /own /own");
  expect(both.slice(-3)).toEqual(["--", "/workerd", "serve"]);
});

test("a signal that ended a command behind bubblewrap is known as one", () => {
  const wrapped = { bubblewrap: "/b", missing: [] };
  expect(toInnerExit(wrapped, { code: 137, signal: null })).toEqual({ code: null, signal: "SIGKILL" });
  expect(toInnerExit(wrapped, { code: 152, signal: null })).toEqual({ code: null, signal: "SIGXCPU" });
  expect(toInnerExit(wrapped, { code: 1, signal: null })).toEqual({ code: 1, signal: null });
  expect(toInnerExit(wrapped, { code: null, signal: "SIGKILL" })).toEqual({ code: null, signal: "SIGKILL" });
  expect(toInnerExit({ prlimit: "/p", missing: [] }, { code: 137, signal: null })).toEqual({ code: 137, signal: null });
});
