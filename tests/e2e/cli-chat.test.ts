import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cliPath, type HostProcess } from "../kit/host-process.ts";
import { waitForExit, findMain } from "../kit/processes.ts";
import { spawnProgram, openScriptedHost, readAgentState, countingText } from "../kit/scripted-host.ts";
import { waitUntil } from "../kit/wait-until.ts";

let house: HostProcess;

beforeAll(async () => {
  house = await openScriptedHost(["chatter", "queuer", "piped", "crasher"]);
});

afterAll(() => house?.stop());

const readState = (agent: string) => readAgentState(house, agent);

async function countStoredDeltas(agent: string): Promise<number> {
  const { events } = await house.client.call("listEvents", {
    params: { agency: "global", agent },
    query: { limit: 1000 },
  });
  return events.filter(({ type }) => type === "model.delta").length;
}

test("chat takes a message a line where nobody sits, and its exit code tells of failures", async () => {
  const fine = await house.runCli(["chat", "piped"], { input: "one\n\n/two\n" });
  expect(fine).toEqual({ code: 0, stdout: "You said: one\nYou said: /two\n", stderr: "" });
  const failed = await house.runCli(["chat", "piped"], { input: "one\nrefuse\ntwo\n" });
  expect(failed).toMatchObject({ code: 1, stdout: "You said: one\nYou said: two\n" });
  const { outcomes } = JSON.parse((await house.runCli(["chat", "piped", "--json"], { input: "one\n" })).stdout);
  expect(outcomes).toMatchObject([{ content: "You said: one", status: "completed" }]);
});

/** A person at a terminal of their own. */
function startChat(...args: string[]) {
  const command = `stty cols 100 rows 30; exec '${process.execPath}' '${cliPath}' ${args.join(" ")}`;
  const terminal = spawnProgram(house, "script", ["-qec", command, "/dev/null"]);
  // What the person could have read: colours and movements of the cursor taken out.
  const read = () => stripVTControlCharacters(terminal.out());
  return { ...terminal, read, type: (keys: string) => terminal.child.stdin?.write(keys) };
}

const ctrlC = "\u0003";
const ctrlD = "\u0004";

test("chat: messages, tool lines, commands; one Ctrl+C cancels the turn, the next leaves", async () => {
  const { child, read, type, out } = startChat("chat", "chatter");
  await waitUntil("the prompt", () => read().includes("chatter> "));
  type("hello\r");
  await waitUntil("the answer", () => read().includes("You said: hello"));
  type("plan\r");
  await waitUntil("the plan", () => read().includes("Planned."));
  expect(read()).toMatch(/· no_such_tool .*→ failed: /);
  expect(read()).toContain("[~] one");
  type("/titel\r");
  await waitUntil("the suggestion", () => read().includes("did you mean /title?"));
  type("/title\r");
  // The prompt came back for a moment and was wiped out again; without the cursor's movements it stands there.
  await waitUntil("the title", () => /\/title\s+(?:chatter> )?A plan/.test(read()));
  type("evil\r");
  await waitUntil("the evil", () => read().includes("over"));
  for (const sequence of ["\u001b]0", "\u0007", "\u009b", "red\rover"]) expect(out()).not.toContain(sequence);

  type("count\r");
  await waitUntil("the count", () => read().includes("word5 "));
  type(ctrlC);
  await waitUntil("the end of the turn", () => read().includes("The turn was canceled."));
  expect((await readState("chatter")).run.status).toBe("canceled");
  expect(child.exitCode).toBe(null);
  type("still here\r");
  await waitUntil("the answer", () => read().includes("You said: still here"));
  await waitUntil("the prompt", () => read().trimEnd().endsWith("chatter>"));
  type(ctrlC);
  expect(await waitForExit(child)).toBe(130);
  expect(read()).not.toContain("word120");
});

test("chat: what is typed while a turn runs is queued; the agent's words wait for the typing", async () => {
  const { child, read, type } = startChat("chat", "queuer");
  await waitUntil("the prompt", () => read().includes("queuer> "));
  type("count\r");
  await waitUntil("the count", () => read().includes("word5 "));
  type("and the next");
  await waitUntil("the typed words", () => read().includes("queuer> and the next"));
  const stored = await countStoredDeltas("queuer");
  await waitUntil("more words", async () => (await countStoredDeltas("queuer")) > stored + 1);
  expect(read().split("queuer> and the next")).toEqual([expect.any(String), ""]);
  type("\r");
  await waitUntil("the next answer", () => read().includes("You said: and the next"));
  // Nothing of the answer was lost to the typing, and nothing came twice.
  const heard =
    read()
      .slice(read().indexOf("word1 "))
      .match(/word\d+/g) ?? [];
  expect(heard.join(" ")).toBe(countingText);
  await waitUntil("the prompt", () => read().trimEnd().endsWith("queuer>"));
  type(ctrlD);
  expect(await waitForExit(child)).toBe(0);
});

test("chat goes on after the host's main was killed, and says so", async () => {
  const { child, read, type } = startChat("chat", "queuer");
  await waitUntil("the prompt", () => read().includes("queuer> "));
  const main = findMain(house.home);
  process.kill(main?.pid ?? 0, "SIGKILL");
  await waitUntil("the news", () => read().includes("The connection is lost"));
  type("are you there\r");
  await waitUntil("the answer", () => read().includes("You said: are you there"));
  expect(read()).toContain("Connected again.");
  type("/exit\r");
  expect(await waitForExit(child)).toBe(0);
});
