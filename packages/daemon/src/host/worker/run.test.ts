import { readdirSync } from "node:fs";
import { join } from "node:path";
import {
  linuxLimitsSchema,
  sandboxLimitsSchema,
  subagentLimitsSchema,
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

interface WorkerResponse {
  word: string;
  boot: { id: string; after: string };
}

const waitOptions = { timeout: 20_000, interval: 10 };

function createOptions(home: Home, worker: HostOptions["worker"], onLine: (line: string) => void): HostOptions {
  return {
    home,
    host: "127.0.0.1",
    port: 0,
    isPortFixed: false,
    slots: 0,
    agentSlots: 0,
    allowedHosts: [],
    allowedOrigins: [],
    toolOrigins: [],
    providers: [],
    models: { providers: {}, prices: {} },
    modelVariables: { variables: {}, secrets: [] },
    turn: turnLimitsSchema.parse({}),
    policy: [],
    subagents: subagentLimitsSchema.parse({}),
    sandbox: sandboxLimitsSchema.parse({}),
    linux: linuxLimitsSchema.parse({}),
    workspace: workspaceLimitsSchema.parse({}),
    scriptFolders: [],
    parts: createStockParts(),
    // Few failures, so that one counted by mistake is noticed.
    limits: { backoffMs: 5, pingMs: 50, failures: 2 },
    onLine,
    ...(worker ? { worker } : {}),
  };
}

async function startTestHost(entry: string, watch = false) {
  const home = await createTempHome();
  const lines: string[] = [];
  const host = await runHost(createOptions(home, { entry, watch }, (line) => lines.push(line)));
  onTestFinished(() => host.stop());
  const get = async () => (await fetch(host.url)).json() as Promise<WorkerResponse>;
  const waitForWord = async (word: string): Promise<WorkerResponse> => {
    await vi.waitUntil(
      () =>
        get().then(
          (response) => response.word === word,
          () => false,
        ),
      waitOptions,
    );
    return get();
  };
  const waitForLine = (part: string) => vi.waitUntil(() => lines.some((line) => line.includes(part)), waitOptions);
  return { home, host, get, waitForWord, waitForLine, lines };
}

const getStartError = async (source: string) => {
  const home = await createTempHome();
  const { entry } = createProject({ "worker.ts": source });
  const lines: string[] = [];
  const error = await runHost(createOptions(home, { entry, watch: false }, (line) => lines.push(line))).catch(
    (thrown: Error & { code: string }) => thrown,
  );
  expect(await takeLock(home).then((lock) => lock?.release().then(() => "free"))).toBe("free");
  return { error, entry, lines };
};

test("main runs a custom Worker, also after a crash, and discovery names its file", async () => {
  const { entry } = createProject({ "worker.ts": createWorkerSource('"mine"') });
  const { home, get, waitForWord } = await startTestHost(entry);
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
    waitOptions,
  );
  expect((await waitForWord("mine")).boot.after).toBe("crash");
});

test("a Worker that throws on load fails the start with its error, after one attempt", async () => {
  const { error, entry, lines } = await getStartError(
    `${createWorkerSource('"never"')}\nfunction deep() { throw new TypeError("not on\\nthis machine"); }\ndeep();`,
  );
  expect(error).toMatchObject({ code: "unavailable" });
  expect((error as Error).message).toMatch(
    new RegExp(
      `^The Worker ${entry} failed to load: TypeError: not on this machine \\(at main\\.js:\\d+:\\d+ in deep\\)\\.$`,
    ),
  );
  expect(lines).toEqual([]);
});

test("an export that is not a class and a wrong default export are named in the error", async () => {
  const noClass = await getStartError(
    createWorkerSource('"never"').replace("class Agency extends DurableObject {}", "const Agency = 1;"),
  );
  expect((noClass.error as Error).message).toMatch(/failed to load: TypeError: .*'Agency'[^.]*\.$/);
  const other = await getStartError(
    `${objects}\nexport default { fetch() { return new Response("what?", { status: 404 }); } };`,
  );
  expect((other.error as Error).message).toContain("responds with 404 to GET /health");
});

test("main is restarted when a file of a watched Worker changes, and the restart does not count as a crash", async () => {
  const { entry, write } = createProject({
    "worker.ts": `import { word } from "./word.ts";${createWorkerSource("word")}`,
    "word.ts": 'export const word = "one";',
  });
  const { home, host, waitForWord } = await startTestHost(entry, true);
  const first = await waitForWord("one");
  for (const word of ["two", "three", "four"]) {
    write("word.ts", `export const word = "${word}";`);
    expect((await waitForWord(word)).boot).toEqual({ id: expect.not.stringContaining(first.boot.id), after: "stop" });
  }
  expect(readdirSync(join(home.run, "worker")).length).toBeLessThanOrEqual(2);
  expect(await Promise.race([host.stopped, "still running"])).toBe("still running");
});

test("main keeps its Worker while a change does not build", async () => {
  const { entry, write } = createProject({ "worker.ts": createWorkerSource('"one"') });
  const { get, waitForWord, waitForLine } = await startTestHost(entry, true);
  const before = await get();
  write("worker.ts", "export class Think {");
  await waitForLine("Main continues with the current Worker.");
  expect(await get()).toEqual(before);
  // A missing import is picked up once its file appears.
  write("worker.ts", `import { word } from "./late.ts";${createWorkerSource("word")}`);
  await waitForLine("./late.ts");
  write("late.ts", 'export const word = "late";');
  await waitForWord("late");
});

test("main falls back to the previous Worker whenever a change builds but fails to load", async () => {
  const { entry, write } = createProject({ "worker.ts": createWorkerSource('"good"') });
  const { waitForWord, lines } = await startTestHost(entry, true);
  for (const name of ["one", "two", "three"]) {
    write("worker.ts", `${createWorkerSource('"bad"')}\nthrow new Error("error ${name}");`);
    await vi.waitUntil(
      () =>
        lines.some((line) => line.includes(`error ${name}`) && line.endsWith("Main continues with the previous one.")),
      waitOptions,
    );
    await waitForWord("good");
  }
  write("worker.ts", createWorkerSource('"better"'));
  await waitForWord("better");
});
