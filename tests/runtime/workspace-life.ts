import { afterAll, beforeAll, expect } from "vitest";
import type { Random } from "../kit/random.ts";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";

/** Asks the workspace of a test. */
export type Desk = (step: string, input?: object) => Promise<ReturnType<typeof JSON.parse>>;

/** Workspaces in objects of their own, in a workerd that this file's tests share. Each by its name. */
export function useDesks(): (object: string) => Desk {
  let worker: BareWorker | undefined;
  beforeAll(async () => {
    worker = await startBareWorker(new URL("workspace.worker.ts", import.meta.url), { objects: ["Desk"] });
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

/** Does this and that, keeps what there was after each version, and looks back. */
export async function simulateEdits(on: Desk, chance: Random, steps: number): Promise<void> {
  const states = new Map<string, unknown>();
  const branches = ["main"];
  for (let step = 0; step < steps; step++) {
    const branch = chance.pick(branches);
    const files = new Map<string, unknown>(await on("whole", { at: { branch } }));
    const done = await act(on, chance, branch, files, branches);
    for (const name of branches)
      states.set(
        `${name} ${await on("latest", { at: { branch: name } })}`,
        await on("whole", { at: { branch: name } }),
      );
    // A version that joined another one has changed what that one was.
    expect(done?.refused === "threw" ? done : "", `step ${step}`).toBe("");
  }
  for (const [key, state] of states) {
    const [branch, version] = key.split(" ");
    if (version === "0" || !branches.includes(branch as string)) continue;
    expect(await on("whole", { at: { branch, version: Number(version) } }), `${key}, SEED=${chance.seed}`).toEqual(
      state,
    );
  }
  expect(await on("replay"), `SEED=${chance.seed}`).toEqual(
    (await on("whole")).sort(([a]: [string], [b]: [string]) => (a < b ? -1 : 1)),
  );
  for (const branch of branches) {
    const [known, counted] = await on("totals", { at: { branch } });
    expect(known, `SEED=${chance.seed}`).toEqual(counted);
  }
}

async function act(
  on: Desk,
  chance: Random,
  branch: string,
  files: Map<string, unknown>,
  branches: string[],
): Promise<ReturnType<typeof JSON.parse>> {
  const options = { branch };
  const paths = [...files.keys()];
  const latest = await on("latest", { at: { branch } });
  const kind = chance.below(12);
  if (kind < 5) {
    const edits = Array.from({ length: 1 + chance.below(3) }, () =>
      createWrite(
        chance.chance(0.6) && paths.length > 0 ? chance.pick(paths) : createPath(chance),
        createContent(chance, files.get(chance.pick([...paths, ""]))),
      ),
    );
    return on("commit", {
      edits,
      options: { ...options, joins: chance.chance(0.3) },
      origin: chance.chance(0.5)
        ? createOrigin(`t${chance.below(4)}`, `c${chance.below(9)}`)
        : { kind: "user", user: "ann" },
    });
  }
  if (kind === 5 && paths.length > 0) return on("commit", { edits: [{ delete: chance.pick(paths) }], options });
  if (kind === 6 && paths.length > 0)
    return on("commit", { edits: [{ move: chance.pick(paths), to: createPath(chance) }], options });
  if (kind === 7 && latest > 0)
    return on("land", {
      base: Math.max(1, latest - chance.below(4)),
      edits: [createWrite(chance.pick([...paths, createPath(chance)]), createContent(chance, undefined))],
      options,
    });
  if (kind === 8 && latest > 0)
    return on("revert", {
      order: chance.chance(0.6) ? { version: 1 + chance.below(latest) } : { turn: `t${chance.below(4)}`, branch },
    });
  if (kind === 9 && branches.length < 4) {
    const made = await on("branch", {
      order: { from: branch, ...(chance.chance(0.4) && latest > 0 ? { version: 1 + chance.below(latest) } : {}) },
    });
    if (made.id) branches.push(made.id);
    return made;
  }
  if (kind >= 10 && branches.length > 1) {
    const [name, into] = chance.chance(0.6)
      ? [chance.pick(branches), undefined]
      : [chance.pick(branches), chance.pick(branches)];
    return on("merge", { name, order: into === undefined ? {} : { into } });
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
