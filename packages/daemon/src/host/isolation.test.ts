import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTempFolder } from "./fixture.ts";
import {
  type ProcessLimits,
  type SandboxIsolation,
  isolateCommand,
  describeIsolation,
  toInnerExit,
  probeIsolation,
} from "./isolation.ts";
import { createSeccompFilter } from "./seccomp.ts";

/** Creates fake programs. */
function createPrograms() {
  const folder = createTempFolder();
  const write = (name: string, source: string) => {
    writeFileSync(join(folder, name), `#!/bin/sh\n${source}\n`, { mode: 0o755 });
    return join(folder, name);
  };
  return {
    workerd: write("workerd", "exit 0"),
    // Runs what follows its options.
    prlimit: write("prlimit", `while [ "\${1#--}" != "$1" ]; do shift; done; exec "$@"`),
    bubblewrap: write("bwrap", `while [ "$1" != -- ]; do shift; done; shift; exec "$@"`),
    setpriv: write("setpriv", `while [ "$1" != -- ]; do shift; done; shift; exec "$@"`),
    bad: write("bad", "echo it is forbidden >&2; exit 1"),
  };
}

test("a program under which workerd does not start is left out, with the reason", async () => {
  const { workerd, prlimit, bubblewrap, bad } = createPrograms();
  const probe = async (limiter: string, path: string) => {
    const isolation = await probeIsolation(workerd, { prlimit: limiter, bubblewrap: { path } });
    return { ...isolation, missing: isolation.missing.join(" ") };
  };
  expect(await probe(prlimit, bubblewrap)).toEqual({ prlimit, bubblewrap, missing: "" });
  expect(await probe(prlimit, bad)).toEqual({
    prlimit,
    missing: expect.stringContaining("does not start under bubblewrap (it is forbidden)."),
  });
  expect(await probe(bad, bubblewrap)).toEqual({
    bubblewrap,
    missing: expect.stringContaining("does not start under prlimit and bubblewrap"),
  });
  expect(await probe(bad, bad)).toEqual({ missing: expect.stringContaining("under prlimit (it is forbidden).") });
});

test("the description says why a program is missing", async () => {
  const { workerd, prlimit } = createPrograms();
  const isolation = await probeIsolation(workerd, { prlimit, bubblewrap: { missing: "Get some bubblewrap." } });
  expect(describeIsolation(isolation)).toBe("Sandboxes run under prlimit. Get some bubblewrap.");
  const without = await probeIsolation(workerd, {
    prlimit: undefined,
    bubblewrap: { missing: "Get some bubblewrap." },
  });
  expect(describeIsolation(without)).toBe(
    "Sandboxes run without additional isolation. prlimit is not installed (it is part of util-linux). Get some bubblewrap.",
  );
});

const limits: ProcessLimits = { dataBytes: 1000, cpuSeconds: 5, readable: ["/config"], folder: "/own" };

test("a command is wrapped in the available programs", () => {
  const isolate = (isolation: Partial<SandboxIsolation>) => {
    const { command, args, inputs } = isolateCommand({ missing: [], ...isolation }, limits, ["/workerd", "serve"]);
    return { line: [command, ...args], inputs };
  };
  expect(isolate({})).toEqual({ line: ["/workerd", "serve"], inputs: [] });
  const { line: both, inputs } = isolate({ prlimit: "/p", bubblewrap: "/b" });
  expect(inputs).toEqual([createSeccompFilter()]);
  expect(both.join(" ")).toContain("/b --seccomp 5 ");
  expect(both.slice(0, 3)).toEqual(["/p", "--data=1000", "--cpu=5:15"]);
  expect(both.slice(both.indexOf("/b"))).toEqual(
    expect.arrayContaining(["--unshare-all", "--die-with-parent", "--clearenv"]),
  );
  expect(both.join(" ")).toContain("--ro-bind /workerd /workerd --ro-bind /config /config --bind /own /own");
  expect(both.slice(-3)).toEqual(["--", "/workerd", "serve"]);
  const nobody = "/s --reuid 65534 --regid 65534 --clear-groups --inh-caps -all --no-new-privs";
  const all = isolate({ prlimit: "/p", bubblewrap: "/b", setpriv: "/s" }).line.join(" ");
  expect(all).toContain("--ro-bind /s /s");
  expect(all).not.toMatch(/--unshare-(all|user)/);
  expect(all).toMatch(new RegExp(`-- ${nobody} --bounding-set -all -- /workerd serve$`));
  const switched = isolate({ prlimit: "/p", setpriv: "/s" });
  expect(switched.line.slice(switched.line.indexOf("/s")).join(" ")).toBe(`${nobody} -- /proc/self/fd/5 serve`);
  expect(switched.inputs).toEqual([{ file: "/workerd" }]);
});

test("a sandbox of root runs as nobody, and never as root outside of bubblewrap", async () => {
  const { workerd, prlimit, bubblewrap, setpriv, bad } = createPrograms();
  const probe = async (found: { prlimit: string | undefined; setpriv: string; bubblewrap?: string }) => {
    const wrapper = found.bubblewrap ? { path: found.bubblewrap } : { missing: "Get some bubblewrap." };
    const { missing: _, ...isolation } = await probeIsolation(workerd, { ...found, bubblewrap: wrapper });
    return isolation;
  };
  expect(await probe({ prlimit, bubblewrap, setpriv })).toEqual({ prlimit, bubblewrap, setpriv });
  expect(await probe({ prlimit: bad, bubblewrap, setpriv })).toEqual({ bubblewrap, setpriv });
  expect(await probe({ prlimit, bubblewrap, setpriv: bad })).toEqual({ prlimit, bubblewrap });
  expect(await probe({ prlimit, bubblewrap: bad, setpriv: bad })).toEqual({});
  expect(await probe({ prlimit, setpriv: bad })).toEqual({});
  expect(await probe({ prlimit: undefined, setpriv: bad })).toEqual({});
});

test("the exit code of bubblewrap is translated back to a signal", () => {
  const wrapped = { bubblewrap: "/b", missing: [] };
  expect(toInnerExit(wrapped, { code: 137, signal: null })).toEqual({ code: null, signal: "SIGKILL" });
  expect(toInnerExit(wrapped, { code: 152, signal: null })).toEqual({ code: null, signal: "SIGXCPU" });
  expect(toInnerExit(wrapped, { code: 1, signal: null })).toEqual({ code: 1, signal: null });
  expect(toInnerExit(wrapped, { code: null, signal: "SIGKILL" })).toEqual({ code: null, signal: "SIGKILL" });
  expect(toInnerExit({ prlimit: "/p", missing: [] }, { code: 137, signal: null })).toEqual({ code: 137, signal: null });
});
