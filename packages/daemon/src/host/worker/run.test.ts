import { readdirSync } from "node:fs";
import { join } from "node:path";
import {
  linuxLimitsSchema,
  sandboxLimitsSchema,
  turnLimitsSchema,
  workspaceLimitsSchema,
} from "@thinkery/sdk/internal";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Home } from "../../home/home.ts";
import { findHost } from "../discovery.ts";
import { createTempHome, findWorkerds } from "../fixture.ts";
import { type HostOptions, runHost } from "../host.ts";
import { takeLock } from "../lock.ts";
import { objects, createProject, createWorkerSource, createStockParts, version } from "./fixture.ts";

interface Answer {
  word: string;
  boot: { id: string; after: string };
}

const retryTimeoutMs = { timeout: 20_000, interval: 10 };

function createOptions(home: Home, worker: HostOptions["worker"], onLine: (line: string) => void): HostOptions {
  return {
    home,
    host: "127.0.0.1",
    port: 0,
    isPortFixed: false,
    slots: 0,
    allowedHosts: [],
    allowedOrigins: [],
    toolOrigins: [],
    providers: [],
    models: { providers: {}, prices: {} },
    modelVariables: { variables: {}, secrets: [] },
    turn: turnLimitsSchema.parse({}),
    sandbox: sandboxLimitsSchema.parse({}),
    linux: linuxLimitsSchema.parse({}),
    workspace: workspaceLimitsSchema.parse({}),
    scriptFolders: [],
    parts: createStockParts(),
    // Few failures, so that one that is counted and should not be is noticed.
    limits: { backoffMs: 5, pingMs: 50, failures: 2 },
    onLine,
    ...(worker ? { worker } : {}),
  };
}

async function startTestHost(entry: string, watch = false) {
  const home = await createTempHome();
  const said: string[] = [];
  const host = await runHost(createOptions(home, { entry, watch }, (line) => said.push(line)));
  onTestFinished(() => host.stop());
  const get = async () => (await fetch(host.url)).json() as Promise<Answer>;
  const waitForWord = async (word: string): Promise<Answer> => {
    await vi.waitUntil(
      () =>
        get().then(
          (answer) => answer.word === word,
          () => false,
        ),
      retryTimeoutMs,
    );
    return get();
  };
  const waitForLine = (part: string) => vi.waitUntil(() => said.some((line) => line.includes(part)), retryTimeoutMs);
  return { home, host, get, hears: waitForWord, says: waitForLine, said };
}

const getRefusal = async (source: string) => {
  const home = await createTempHome();
  const { entry } = createProject({ "worker.ts": source });
  const said: string[] = [];
  const error = await runHost(createOptions(home, { entry, watch: false }, (line) => said.push(line))).catch(
    (thrown: Error & { code: string }) => thrown,
  );
  expect(await takeLock(home).then((lock) => lock?.release().then(() => "free"))).toBe("free");
  return { error, entry, said };
};

test("main runs a Worker of one's own, says so on this machine, and again after a crash", async () => {
  const { entry } = createProject({ "worker.ts": createWorkerSource('"mine"') });
  const { home, get, hears } = await startTestHost(entry);
  const first = await get();
  expect(first).toMatchObject({ word: "mine", boot: { after: "stop" } });
  expect(await findHost(home)).toMatchObject({ worker: entry, version });
  const [main] = findWorkerds(process.pid).filter(({ config }) => config === join(home.run, "main.capnp"));
  process.kill(main?.pid ?? 0, "SIGKILL");
  await vi.waitUntil(
    () =>
      get().then(
        ({ boot }) => boot.id !== first.boot.id,
        () => false,
      ),
    retryTimeoutMs,
  );
  expect((await hears("mine")).boot.after).toBe("crash");
});

test("a Worker that throws when it is loaded ends the start with its words, after one try", async () => {
  const { error, entry, said } = await getRefusal(
    `${createWorkerSource('"never"')}\nfunction deep() { throw new TypeError("not on\\nthis machine"); }\ndeep();`,
  );
  expect(error).toMatchObject({ code: "unavailable" });
  expect((error as Error).message).toMatch(
    new RegExp(
      `^The Worker ${entry} cannot be loaded: TypeError: not on this machine \\(at main\\.js:\\d+:\\d+ in deep\\)\\.$`,
    ),
  );
  expect(said).toEqual([]);
});

test("an export that is no class, and a default export that is not the handler, are named", async () => {
  const noClass = await getRefusal(
    createWorkerSource('"never"').replace("class Agency extends DurableObject {}", "const Agency = 1;"),
  );
  expect((noClass.error as Error).message).toMatch(/cannot be loaded: TypeError: .*'Agency'[^.]*\.$/);
  const other = await getRefusal(
    `${objects}\nexport default { fetch() { return new Response("what?", { status: 404 }); } };`,
  );
  expect((other.error as Error).message).toContain("answers 404 when it is asked for /health");
});

test("a watched Worker runs anew when one of its files changes, and no turn is charged for it", async () => {
  const { entry, write } = createProject({
    "worker.ts": `import { word } from "./word.ts";${createWorkerSource("word")}`,
    "word.ts": 'export const word = "one";',
  });
  const { home, host, hears } = await startTestHost(entry, true);
  const first = await hears("one");
  for (const word of ["two", "three", "four"]) {
    write("word.ts", `export const word = "${word}";`);
    expect((await hears(word)).boot).toEqual({ id: expect.not.stringContaining(first.boot.id), after: "stop" });
  }
  expect(readdirSync(join(home.run, "worker")).length).toBeLessThanOrEqual(2);
  expect(await Promise.race([host.stopped, "runs on"])).toBe("runs on");
});

test("a change that does not build leaves main as it is, until it does", async () => {
  const { entry, write } = createProject({ "worker.ts": createWorkerSource('"one"') });
  const { get, hears, says } = await startTestHost(entry, true);
  const before = await get();
  write("worker.ts", "export class Think {");
  await says("Main goes on with the Worker it has.");
  expect(await get()).toEqual(before);
  // It waits for a file that comes later.
  write("worker.ts", `import { word } from "./late.ts";${createWorkerSource("word")}`);
  await says("./late.ts");
  write("late.ts", 'export const word = "late";');
  await hears("late");
});

test("a change that builds but cannot be loaded gives main the Worker before back, however often", async () => {
  const { entry, write } = createProject({ "worker.ts": createWorkerSource('"good"') });
  const { hears, said } = await startTestHost(entry, true);
  for (const trouble of ["one", "two", "three"]) {
    write("worker.ts", `${createWorkerSource('"bad"')}\nthrow new Error("trouble ${trouble}");`);
    await vi.waitUntil(
      () =>
        said.some((line) => line.includes(`trouble ${trouble}`) && line.endsWith("Main goes on with the one before.")),
      retryTimeoutMs,
    );
    await hears("good");
  }
  write("worker.ts", createWorkerSource('"better"'));
  await hears("better");
});
