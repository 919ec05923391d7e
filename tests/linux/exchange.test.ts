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

/** A workspace and its working copy, with no sandbox around it: commands are functions. */
function openExchange() {
  const place = { folder: createTempFolder(), metadata: createTempFolder(), owner: undefined };
  const workspace = new Workspace();
  let working = new WorkingCopy(place);
  /** Called before each request, and may throw as if the host had died. */
  let before = () => {};
  const asked: string[] = [];
  const ask = (what: string) => {
    asked.push(what);
    before();
  };
  const copy: LinuxWorkingCopy = {
    async *collect(largest) {
      ask("collect");
      yield* decodeFileTransfers(await working.collect(largest), largest);
    },
    async plan(plan) {
      ask("plan");
      return working.plan(plan);
    },
    async put(transfers) {
      ask("put");
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
    asked,
    folder: place.folder,
    restart: () => (working = new WorkingCopy(place)),
    meddle: (work: () => void) => (before = work),
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

test("a file that both sides deleted is forgotten", async () => {
  const { workspace, folder, asked, run } = openExchange();
  workspace.write({ a: "1", b: "1" });
  await run(() => rmSync(join(folder, "a")));
  rmSync(join(folder, "b"));
  workspace.write({ b: undefined });
  await run();
  asked.length = 0;
  await run();
  expect([asked, readTexts(folder)]).toEqual([["collect", "collect"], {}]);
});

test("a file that a command deleted stays deleted until the workspace knows of it", async () => {
  const { workspace, folder, run } = openExchange();
  workspace.write({ a: "1" });
  const land = workspace.rebaseEdits.bind(workspace);
  workspace.rebaseEdits = () => {
    workspace.write({ a: "2" });
    workspace.rebaseEdits = land;
    throw new Error("cannot land");
  };
  await run(() => rmSync(join(folder, "a")));
  expect(readTexts(folder)).toEqual({});
  const { notes } = await run();
  expect(notes?.join()).toContain("“a” was changed in the workspace while it was changed in the sandbox");
  expect(readTexts(folder)).toEqual({ a: "2" });
});

test("nothing is put over a file that is too large to come back", async () => {
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

test("nothing is put over files that changed, if more of them did than may come back", async () => {
  const { workspace, folder, run } = openExchange();
  const paths = Array.from({ length: 2050 }, (_, index) => `${index}`);
  const writeAll = (text: string) => workspace.write(Object.fromEntries(paths.map((path) => [path, text])));
  writeAll("1");
  await run(() => paths.forEach((path) => writeFileSync(join(folder, path), "changed")));
  writeAll("2");
  await run();
  expect(new Set(Object.values(readTexts(folder)))).toEqual(new Set(["changed"]));
});

test("a file in a folder that is hidden for a while is still known afterwards", async () => {
  const { workspace, folder, run } = openExchange();
  workspace.write({ "d/a": "1" });
  const [place, aside] = [join(folder, "d"), `${folder}-aside`];
  await run(() => {
    renameSync(place, aside);
    symlinkSync(aside, place);
  });
  workspace.write({ "d/a": undefined });
  await run();
  expect(readTexts(aside)).toEqual({ a: "1" });
  unlinkSync(place);
  renameSync(aside, place);
  workspace.write({ b: "1" });
  await run();
  expect([workspace.texts, readTexts(folder)]).toEqual([{ b: "1" }, { b: "1" }]);
});

test("whatever commands and people do, and whenever the host dies: nothing is lost, and both end equal", async () => {
  const { below, pick, chance } = createRandom("working copies");
  for (let story = 0; story < getRepeatCount("random working copies", { sample: 10, full: 150 }); story++) {
    const { workspace, folder, restart, meddle, run } = openExchange();
    const names = ["a", "b.txt", "d/c", "d/e.md", "f/g/h", "i"];
    /** What commands wrote and did not replace or delete themselves. */
    const alive = new Set<string>();
    let count = 0;
    // Always of the same size, so that the size tells nothing.
    const nextText = () => `text ${String(count++).padStart(5, "0")}`;
    const actInFolder = () => {
      const files = readTexts(folder);
      const path = pick([...names, ...Object.keys(files)]);
      const place = join(folder, path);
      const text = files[path];
      mkdirSync(dirname(place), { recursive: true });
      if (text !== undefined && chance(0.3)) {
        rmSync(place);
        alive.delete(text);
      } else if (text !== undefined && chance(0.2)) {
        const target = pick(names);
        if (target !== path && files[target] !== undefined) alive.delete(files[target]);
        mkdirSync(dirname(join(folder, target)), { recursive: true });
        renameSync(place, join(folder, target));
      } else {
        if (text !== undefined) alive.delete(text);
        const next = nextText();
        writeFileSync(place, next);
        alive.add(next);
      }
    };
    const actInWorkspace = () => {
      const path = pick([...names, ...workspace.now.keys()]);
      workspace.write({ [path]: workspace.now.has(path) && chance(0.3) ? undefined : nextText() });
    };
    const land = workspace.rebaseEdits.bind(workspace);
    workspace.rebaseEdits = (...args) => {
      if (chance(0.15)) throw new Error("cannot land");
      return land(...args);
    };
    meddle(() => {
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
    workspace.rebaseEdits = land;
    meddle(() => {});
    await run();
    expect(readTexts(folder)).toEqual(workspace.texts);
    const known = new Set(workspace.versions.flatMap((files) => [...files.values()].map(String)));
    expect([...alive].filter((text) => !known.has(text))).toEqual([]);
  }
});
