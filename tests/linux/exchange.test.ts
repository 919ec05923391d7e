import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { decodeFileTransfers } from "@thinkery/sdk/internal";
import { expect, test } from "vitest";
import { createTempFolder } from "../../packages/daemon/src/host/fixture.ts";
import { WorkingCopy } from "../../packages/daemon/src/host/linux/copy/working-copy.ts";
import { attachFiles } from "../../packages/runtime/src/sandbox/linux-files.ts";
import type { AgentLinux, LinuxWorkingCopy } from "../../packages/runtime/src/sandbox/linux.ts";
import { createRandom } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { Workspace } from "./fixture.ts";

/** Opens a workspace and its working copy without a sandbox; commands are functions. */
function openExchange() {
  const storage = { folder: createTempFolder(), metadata: createTempFolder(), owner: undefined };
  const workspace = new Workspace();
  let working = new WorkingCopy(storage);
  /** Called before each request; may throw to simulate a crash of the host. */
  let onRequest = () => {};
  const requests: string[] = [];
  const record = (request: string) => {
    requests.push(request);
    onRequest();
  };
  const copy: LinuxWorkingCopy = {
    async *collect(maxFileBytes) {
      record("collect");
      yield* decodeFileTransfers(await working.collect(maxFileBytes), maxFileBytes);
    },
    async plan(plan) {
      record("plan");
      return working.plan(plan);
    },
    async put(transfers) {
      record("put");
      return working.put(Buffer.from(transfers), workspace.maxFileBytes);
    },
    pendingNotes: [],
    runExclusive: (work) => work(),
  };
  let command = () => {};
  const linux = {
    workingCopy: copy,
    run: async () => (command(), { exitCode: 0, output: "", ms: 0 }),
  } as unknown as AgentLinux;
  const tool = attachFiles(linux, workspace);
  return {
    workspace,
    requests,
    folder: storage.folder,
    restart: () => (working = new WorkingCopy(storage)),
    interfere: (work: () => void) => (onRequest = work),
    async run(work: () => void = () => {}) {
      command = work;
      return tool.run("", { signal: new AbortController().signal, onOutput() {} });
    },
  };
}

function readTexts(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name));
  const texts = paths.map((path): [string, string] => [path.slice(folder.length + 1), readFileSync(path, "utf8")]);
  return Object.fromEntries(texts.sort());
}

test("a file that both sides deleted is removed from the manifest", async () => {
  const { workspace, folder, requests, run } = openExchange();
  workspace.write({ a: "1", b: "1" });
  await run(() => rmSync(join(folder, "a")));
  rmSync(join(folder, "b"));
  workspace.write({ b: undefined });
  await run();
  requests.length = 0;
  await run();
  expect([requests, readTexts(folder)]).toEqual([["collect", "collect"], {}]);
});

test("a file deleted by a command stays deleted until the deletion is committed", async () => {
  const { workspace, folder, run } = openExchange();
  workspace.write({ a: "1" });
  const rebaseEdits = workspace.rebaseEdits.bind(workspace);
  workspace.rebaseEdits = () => {
    workspace.write({ a: "2" });
    workspace.rebaseEdits = rebaseEdits;
    throw new Error("cannot commit");
  };
  await run(() => rmSync(join(folder, "a")));
  expect(readTexts(folder)).toEqual({});
  const { notes } = await run();
  expect(notes?.join()).toContain("“a” was changed in the workspace and in the sandbox");
  expect(readTexts(folder)).toEqual({ a: "2" });
});

test("a file that is too large to be collected is not overwritten", async () => {
  const { workspace, folder, run } = openExchange();
  workspace.maxFileBytes = 100;
  workspace.write({ a: "1" });
  await run(() => writeFileSync(join(folder, "a"), "x".repeat(101)));
  workspace.write({ a: "2" });
  await run();
  expect(readTexts(folder)).toEqual({ a: "x".repeat(101) });
  rmSync(join(folder, "a"));
  await run();
  expect(workspace.texts).toEqual({ a: "2" });
});

test("changed files are not overwritten if there are too many to be collected", async () => {
  const { workspace, folder, run } = openExchange();
  const paths = Array.from({ length: 2050 }, (_, index) => `${index}`);
  const writeAll = (text: string) => workspace.write(Object.fromEntries(paths.map((path) => [path, text])));
  writeAll("1");
  await run(() => paths.forEach((path) => writeFileSync(join(folder, path), "changed")));
  writeAll("2");
  await run();
  expect(new Set(Object.values(readTexts(folder)))).toEqual(new Set(["changed"]));
});

test("a file in a temporarily hidden folder is still known afterwards", async () => {
  const { workspace, folder, run } = openExchange();
  workspace.write({ "d/a": "1" });
  const [path, aside] = [join(folder, "d"), `${folder}-aside`];
  await run(() => {
    renameSync(path, aside);
    symlinkSync(aside, path);
  });
  workspace.write({ "d/a": undefined });
  await run();
  expect(readTexts(aside)).toEqual({ a: "1" });
  unlinkSync(path);
  renameSync(aside, path);
  workspace.write({ b: "1" });
  await run();
  expect([workspace.texts, readTexts(folder)]).toEqual([{ b: "1" }, { b: "1" }]);
});

test("random changes on both sides and crashes of the host lose nothing, and both sides converge", async () => {
  const { below, pick, chance } = createRandom("working copies");
  for (let round = 0; round < getRepeatCount("random working copies", { sample: 10, full: 150 }); round++) {
    const { workspace, folder, restart, interfere, run } = openExchange();
    const names = ["a", "b.txt", "d/c", "d/e.md", "f/g/h", "i"];
    /** Texts that commands wrote and did not replace or delete themselves. */
    const alive = new Set<string>();
    let count = 0;
    // Always of the same size, so that a change is not visible in the size.
    const nextText = () => `text ${String(count++).padStart(5, "0")}`;
    const actInFolder = () => {
      const files = readTexts(folder);
      const path = pick([...names, ...Object.keys(files)]);
      const fullPath = join(folder, path);
      const text = files[path];
      mkdirSync(dirname(fullPath), { recursive: true });
      if (text !== undefined && chance(0.3)) {
        rmSync(fullPath);
        alive.delete(text);
      } else if (text !== undefined && chance(0.2)) {
        const target = pick(names);
        if (target !== path && files[target] !== undefined) alive.delete(files[target]);
        mkdirSync(dirname(join(folder, target)), { recursive: true });
        renameSync(fullPath, join(folder, target));
      } else {
        if (text !== undefined) alive.delete(text);
        const next = nextText();
        writeFileSync(fullPath, next);
        alive.add(next);
      }
    };
    const actInWorkspace = () => {
      const path = pick([...names, ...workspace.now.keys()]);
      workspace.write({ [path]: workspace.now.has(path) && chance(0.3) ? undefined : nextText() });
    };
    const rebaseEdits = workspace.rebaseEdits.bind(workspace);
    workspace.rebaseEdits = (...args) => {
      if (chance(0.15)) throw new Error("cannot commit");
      return rebaseEdits(...args);
    };
    interfere(() => {
      if (chance(0.2)) actInWorkspace();
      if (chance(0.2)) actInFolder();
      if (chance(0.1)) {
        restart();
        throw new Error("the host died");
      }
    });
    for (let step = 0; step < 15; step++) {
      for (let edits = below(3); edits > 0; edits--) actInWorkspace();
      await run(() => {
        for (let edits = below(4); edits > 0; edits--) actInFolder();
      }).catch((error: Error) => expect(error.message).toBe("the host died"));
      if (chance(0.1)) restart();
    }
    workspace.rebaseEdits = rebaseEdits;
    interfere(() => {});
    await run();
    expect(readTexts(folder)).toEqual(workspace.texts);
    const known = new Set(workspace.versions.flatMap((files) => [...files.values()].map(String)));
    expect([...alive].filter((text) => !known.has(text))).toEqual([]);
  }
});
