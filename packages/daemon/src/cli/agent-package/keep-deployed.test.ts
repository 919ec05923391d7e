import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Deploy, fail, type NewDeploy, type ThinkeryError } from "@thinkery/sdk";
import { expect, onTestFinished, test, vi } from "vitest";
import { answer, createPackageFolder, createPackageJson } from "./fixture.ts";
import { keepDeployed } from "./keep-deployed.ts";
import { PackageSource } from "./package-source.ts";

type Body = Omit<NewDeploy, "dryRun" | "createAgent">;

/** Runs `keepDeployed` with a host that the test plays, until the test ends. */
function start(
  files: Record<string, string>,
  respond: (body: Body, index: number) => unknown = () => undefined,
  dir = ".",
) {
  const { folder, write } = createPackageFolder(files);
  const stop = new AbortController();
  const bodies: Body[] = [];
  const failures: ThinkeryError[] = [];
  const hostChanges: boolean[] = [];
  let deployed = 0;
  const done = keepDeployed({
    cwd: folder,
    dir,
    signal: stop.signal,
    async deploy(body) {
      const index = bodies.push(body) - 1;
      await respond(body, index);
      return { name: body.name, version: bodies.length, warnings: ["of the host"] } as unknown as Deploy;
    },
    onDeployed: ({ warnings }, ms) => {
      expect([warnings.at(-1), ms >= 0]).toEqual(["of the host", true]);
      deployed++;
    },
    onFailed: (error) => failures.push(error),
    onHostChange: (isAvailable) => hostChanges.push(isAvailable),
    reconnect: async () => {},
  });
  done.catch(() => {});
  onTestFinished(async () => {
    stop.abort();
    await done.catch(() => {});
  });
  const until = (condition: () => boolean) => vi.waitUntil(condition, { timeout: 10_000, interval: 5 });
  return {
    folder,
    write,
    stop: () => stop.abort(),
    done,
    bodies,
    failures,
    hostChanges,
    untilDeployed: (count: number) => until(() => deployed >= count),
    untilFailed: (count: number) => until(() => failures.length >= count),
    until,
    count: () => deployed,
  };
}

test("each save is deployed once, also if the file is replaced", async () => {
  const { folder, write, bodies, untilDeployed, stop, done } = start({ "src/agent.ts": answer("one") });
  await untilDeployed(1);
  expect(bodies[0]).toMatchObject({ name: "hello", manifest: { capabilities: [] }, sourceMap: expect.any(String) });
  write("src/agent.ts", answer("two"));
  await untilDeployed(2);
  expect(bodies[1]?.code).toContain('"two"');
  write("src/agent.ts.tmp", answer("three"));
  renameSync(join(folder, "src/agent.ts.tmp"), join(folder, "src/agent.ts"));
  await untilDeployed(3);
  expect(bodies[2]?.code).toContain('"three"');
  stop();
  expect(await done).toBe(true);
  expect(bodies).toHaveLength(3);
});

test("what changes nothing is not deployed, and an error is reported once", async () => {
  const load = vi.spyOn(PackageSource.prototype, "load");
  onTestFinished(() => load.mockRestore());
  const { write, bodies, failures, untilDeployed, untilFailed, until } = start({ "src/agent.ts": answer("one") });
  const untilLoaded = async () => {
    const before = load.mock.calls.length;
    await until(() => load.mock.calls.length > before);
    await load.mock.results[before]?.value.catch(() => {});
  };
  await untilDeployed(1);
  write("src/agent.ts", answer("one"));
  await untilLoaded();
  write("src/agent.ts", "export default {");
  await untilFailed(1);
  // As editors write a file of their own beside the one that is saved.
  write("src/.agent.ts.swp", "");
  await untilLoaded();
  write("src/agent.ts", answer("two"));
  await until(() => bodies.at(-1)?.code.includes('"two"') === true);
  expect([bodies.length, failures.length]).toEqual([2, 1]);
});

test("the manifest counts, too, and so does a new main module", async () => {
  const { write, bodies, untilDeployed } = start({ "src/agent.ts": answer("one"), "src/other.ts": answer("other") });
  await untilDeployed(1);
  write("package.json", createPackageJson({ description: "Changed." }, { capabilities: ["fs"] }));
  await untilDeployed(2);
  expect(bodies[1]).toMatchObject({ description: "Changed.", manifest: { capabilities: ["fs"] } });
  write("package.json", createPackageJson({ main: "src/other.ts" }));
  await untilDeployed(3);
  expect(bodies[2]?.code).toContain('"other"');
});

test("saves during a deploy are deployed together afterwards, and none is lost", async () => {
  const releases: (() => void)[] = [];
  const { write, bodies, untilDeployed, until } = start({ "src/agent.ts": answer("0") }, (_, index) =>
    index === 1 ? new Promise<void>((resolve) => releases.push(resolve)) : undefined,
  );
  await untilDeployed(1);
  write("src/agent.ts", answer("1"));
  await until(() => releases.length === 1);
  for (let index = 2; index <= 20; index++) write("src/agent.ts", answer(String(index)));
  releases[0]?.();
  await untilDeployed(3);
  expect(bodies).toHaveLength(3);
  expect(bodies[2]?.code).toContain('"20"');
});

test("a build error is reported with its position, and the next good version is deployed", async () => {
  const { write, bodies, failures, untilDeployed, untilFailed } = start({ "src/agent.ts": answer("one") });
  await untilDeployed(1);
  write("src/agent.ts", "export default {");
  await untilFailed(1);
  expect(failures[0]?.message).toMatch(/^src\/agent\.ts:1:17: /);
  write("src/agent.ts", 'import "./lib/new.ts";\nexport default 1;');
  await untilFailed(2);
  expect(failures.map(({ message }) => message.split("\n")[0])).toEqual([
    expect.stringContaining("src/agent.ts:1:17"),
    "src/agent.ts:1:8: There is no file “./lib/new.ts”.",
  ]);
  // Also in a folder that did not exist before.
  write("src/lib/new.ts", "globalThis.found = 1;");
  await untilDeployed(2);
  expect(bodies[1]?.code).toContain("globalThis.found");
  write("src/lib/new.ts", "globalThis.found = 2;");
  await untilDeployed(3);
});

test("errors in package.json are reported, and what is correct again is deployed", async () => {
  const { folder, write, failures, untilDeployed, untilFailed, count } = start({
    "src/agent.ts": answer("one"),
    "package.json": createPackageJson({}, { capabilities: ["net"] }),
  });
  await untilFailed(1);
  expect([failures[0]?.message, count()]).toEqual([expect.stringContaining("thinkery.capabilities.0"), 0]);
  write("package.json", createPackageJson());
  await untilDeployed(1);
  rmSync(join(folder, "package.json"));
  await untilFailed(2);
  expect(failures[1]?.message).toContain("has no package.json");
  write("package.json", createPackageJson({ description: "Again." }));
  await untilDeployed(2);
});

test("what the host refuses is reported, and saving it again tries again", async () => {
  const { folder, bodies, failures, untilDeployed, untilFailed, write } = start(
    { "src/agent.ts": answer("one") },
    (_, index) => {
      if (index === 0) throw fail("bad_request", "The agent’s module throws.");
    },
  );
  await untilFailed(1);
  expect(failures[0]?.message).toBe("The agent’s module throws.");
  write("src/agent.ts", readFileSync(join(folder, "src/agent.ts"), "utf8"));
  await untilDeployed(1);
  expect(bodies[1]).toEqual(bodies[0]);
});

test("an unavailable host is waited for, and then gets the newest version", async () => {
  let isDown = false;
  const { write, bodies, hostChanges, untilDeployed, until, failures } = start(
    { "src/agent.ts": answer("one") },
    () => {
      if (isDown) throw fail("unavailable", "Cannot reach the host.");
    },
  );
  await untilDeployed(1);
  isDown = true;
  write("src/agent.ts", answer("two"));
  await until(() => hostChanges.length === 1);
  write("src/agent.ts", answer("three"));
  isDown = false;
  await untilDeployed(2);
  expect(bodies.at(-1)?.code).toContain('"three"');
  expect([hostChanges, failures]).toEqual([[false, true], []]);
});

test("a host that denies access ends it", async () => {
  const { done } = start({ "src/agent.ts": answer("one") }, () => {
    throw fail("forbidden", "Needs admin.");
  });
  await expect(done).rejects.toMatchObject({ code: "forbidden" });
});

test("changes outside the package and in folders that were replaced are seen", async () => {
  const files = {
    "inner/package.json": createPackageJson({ main: "agent.ts" }),
    "inner/agent.ts": 'import { a } from "../lib/a.ts";\nexport default a;',
    "lib/a.ts": 'export const a = "1";',
  };
  const { folder, write, bodies, untilDeployed } = start(files, undefined, "inner");
  await untilDeployed(1);
  write("lib/a.ts", 'export const a = "2";');
  await untilDeployed(2);
  // As by switching a branch.
  renameSync(join(folder, "lib"), join(folder, "old"));
  mkdirSync(join(folder, "lib"));
  writeFileSync(join(folder, "lib/a.ts"), 'export const a = "3";');
  await untilDeployed(3);
  writeFileSync(join(folder, "lib/a.ts"), 'export const a = "4";');
  await untilDeployed(4);
  expect(bodies.map(({ code }) => /"(\d)"/.exec(code)?.[1])).toEqual(["1", "2", "3", "4"]);
});
