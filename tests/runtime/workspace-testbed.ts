import { afterAll, beforeAll, expect } from "vitest";
import type { Random } from "../kit/random.ts";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";

/** Performs one step on a test's workspace. */
export type WorkspaceClient = (step: string, input?: object) => Promise<ReturnType<typeof JSON.parse>>;

/**
 * Starts a workerd for the tests of a file; returns a function that opens a workspace by name, each in its own object.
 */
export function useWorkspaces(): (object: string) => WorkspaceClient {
  let worker: BareWorker | undefined;
  beforeAll(async () => {
    worker = await startBareWorker(new URL("workspace.worker.ts", import.meta.url), { objects: ["WorkspaceObject"] });
  });
  afterAll(() => worker?.stop());
  return (object) =>
    async (step, input = {}) => {
      const response = await fetch(`${worker?.url}/${object}`, {
        method: "POST",
        body: JSON.stringify({ step, ...input }),
      });
      return response.json();
    };
}

export const createWrite = (path: string, content: unknown) => ({ write: path, content });
export const createPicture = (letter: string) => ({ blob: letter.repeat(64), size: 10, mediaType: "image/png" });
export const createOrigin = (turn: string, toolCall?: string) => ({
  kind: "agent",
  agent: "global~a",
  turn,
  ...(toolCall ? { toolCall, tool: "editFile" } : {}),
});

/** Makes random edits, records the files after each version, and checks that every version reads the same later. */
export async function simulateEdits(call: WorkspaceClient, chance: Random, steps: number): Promise<void> {
  const states = new Map<string, unknown>();
  const branches = ["main"];
  for (let step = 0; step < steps; step++) {
    const branch = chance.pick(branches);
    const files = new Map<string, unknown>(await call("contents", { at: { branch } }));
    const result = await makeRandomChange(call, chance, branch, files, branches);
    // After every step, because a commit that joins the latest version changes that version.
    for (const name of branches)
      states.set(
        `${name} ${await call("latest", { at: { branch: name } })}`,
        await call("contents", { at: { branch: name } }),
      );
    expect(result?.errorCode === "threw" ? result : "", `step ${step}`).toBe("");
  }
  for (const [key, state] of states) {
    const [branch, version] = key.split(" ");
    if (version === "0" || !branches.includes(branch as string)) continue;
    expect(await call("contents", { at: { branch, version: Number(version) } }), `${key}, SEED=${chance.seed}`).toEqual(
      state,
    );
  }
  expect(await call("replay"), `SEED=${chance.seed}`).toEqual(
    (await call("contents")).sort(([a]: [string], [b]: [string]) => (a < b ? -1 : 1)),
  );
  for (const branch of branches) {
    const [cached, counted] = await call("totals", { at: { branch } });
    expect(cached, `SEED=${chance.seed}`).toEqual(counted);
  }
}

async function makeRandomChange(
  call: WorkspaceClient,
  chance: Random,
  branch: string,
  files: Map<string, unknown>,
  branches: string[],
): Promise<ReturnType<typeof JSON.parse>> {
  const options = { branch };
  const paths = [...files.keys()];
  const latest = await call("latest", { at: { branch } });
  const kind = chance.below(12);
  if (kind < 5) {
    const edits = Array.from({ length: 1 + chance.below(3) }, () =>
      createWrite(
        chance.chance(0.6) && paths.length > 0 ? chance.pick(paths) : createPath(chance),
        createContent(chance, files.get(chance.pick([...paths, ""]))),
      ),
    );
    return call("commit", {
      edits,
      options: { ...options, joins: chance.chance(0.3) },
      origin: chance.chance(0.5)
        ? createOrigin(`t${chance.below(4)}`, `c${chance.below(9)}`)
        : { kind: "user", user: "ann" },
    });
  }
  if (kind === 5 && paths.length > 0) return call("commit", { edits: [{ delete: chance.pick(paths) }], options });
  if (kind === 6 && paths.length > 0)
    return call("commit", { edits: [{ move: chance.pick(paths), to: createPath(chance) }], options });
  if (kind === 7 && latest > 0)
    return call("rebase", {
      base: Math.max(1, latest - chance.below(4)),
      edits: [createWrite(chance.pick([...paths, createPath(chance)]), createContent(chance, undefined))],
      options,
    });
  if (kind === 8 && latest > 0)
    return call("revert", {
      params: chance.chance(0.6) ? { version: 1 + chance.below(latest) } : { turn: `t${chance.below(4)}`, branch },
    });
  if (kind === 9 && branches.length < 4) {
    const created = await call("branch", {
      params: { from: branch, ...(chance.chance(0.4) && latest > 0 ? { version: 1 + chance.below(latest) } : {}) },
    });
    if (created.id) branches.push(created.id);
    return created;
  }
  if (kind >= 10 && branches.length > 1) {
    const [name, into] = chance.chance(0.6)
      ? [chance.pick(branches), undefined]
      : [chance.pick(branches), chance.pick(branches)];
    return call("merge", { name, params: into === undefined ? {} : { into } });
  }
  return undefined;
}

const createPath = (chance: Random) =>
  `${chance.pick(["", "src/", "src/deep/", "x/"])}${chance.pick(["a", "b", "c", "d", "e"])}.${chance.pick(["txt", "ts", "png"])}`;

function createContent(chance: Random, now: unknown): unknown {
  if (chance.chance(0.1)) return createPicture(chance.pick(["a", "b", "c"]));
  if (typeof now !== "string" || chance.chance(0.3))
    return Array.from({ length: chance.below(12) }, () => chance.text(chance.below(8), "abé😀".slice(0, 3))).join("\n");
  const lines = now.split("\n");
  lines.splice(chance.below(lines.length + 1), chance.below(3), chance.text(3, "xyz"));
  return lines.join("\n");
}
