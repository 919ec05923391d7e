import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cliPath, type HostProcess } from "../kit/host-process.ts";
import { waitForExit, findMain } from "../kit/processes.ts";
import { spawnProgram, openScriptedHost, readAgentState, countingText } from "../kit/scripted-host.ts";
import { waitUntil } from "../kit/wait-until.ts";

let host: HostProcess;

beforeAll(async () => {
  host = await openScriptedHost(["chatter", "queuer", "piped", "crasher"]);
});

afterAll(() => host?.stop());

const readState = (agent: string) => readAgentState(host, agent);

async function countStoredDeltas(agent: string): Promise<number> {
  const { events } = await host.client.call("listEvents", {
    params: { agency: "global", agent },
    query: { limit: 1000 },
  });
  return events.filter(({ type }) => type === "model.delta").length;
}

test("chat reads one message per line from a pipe, and its exit code reports failures", async () => {
  const succeeded = await host.runCli(["chat", "piped"], { input: "one\n\n/two\n" });
  expect(succeeded).toEqual({ code: 0, stdout: "You said: one\nYou said: /two\n", stderr: "" });
  const failed = await host.runCli(["chat", "piped"], { input: "one\nrefuse\ntwo\n" });
  expect(failed).toMatchObject({ code: 1, stdout: "You said: one\nYou said: two\n" });
  const { outcomes } = JSON.parse((await host.runCli(["chat", "piped", "--json"], { input: "one\n" })).stdout);
  expect(outcomes).toMatchObject([{ content: "You said: one", status: "completed" }]);
});

/** Runs the CLI in a terminal, as a person would. */
function startChat(...args: string[]) {
  const command = `stty cols 100 rows 30; exec '${process.execPath}' '${cliPath}' ${args.join(" ")}`;
  const terminal = spawnProgram(host, "script", ["-qec", command, "/dev/null"]);
  // The visible text, without colors and cursor movements.
  const read = () => stripVTControlCharacters(terminal.out());
  return { ...terminal, read, type: (keys: string) => terminal.child.stdin?.write(keys) };
}

const ctrlC = "\u0003";
const ctrlD = "\u0004";

test("chat: messages, tool lines, commands; one Ctrl+C cancels the turn, the next one exits", async () => {
  const { child, read, type, out } = startChat("chat", "chatter");
  await waitUntil("the prompt", () => read().includes("chatter> "));
  type("hello\r");
  await waitUntil("the response", () => read().includes("You said: hello"));
  type("plan\r");
  await waitUntil("the plan", () => read().includes("Planned."));
  expect(read()).toMatch(/· no_such_tool .*→ failed: /);
  expect(read()).toContain("[~] one");
  type("/titel\r");
  await waitUntil("the suggestion", () => read().includes("Did you mean /title?"));
  type("/title\r");
  // The prompt was shown briefly and erased; without cursor movements it stays in the text.
  await waitUntil("the title", () => /\/title\s+(?:chatter> )?A plan/.test(read()));
  type("evil\r");
  await waitUntil("the escape sequences", () => read().includes("over"));
  for (const sequence of ["\u001b]0", "\u0007", "\u009b", "red\rover"]) expect(out()).not.toContain(sequence);

  type("count\r");
  await waitUntil("the count", () => read().includes("word5 "));
  type(ctrlC);
  await waitUntil("the end of the turn", () => read().includes("The turn was canceled."));
  expect((await readState("chatter")).run.status).toBe("canceled");
  expect(child.exitCode).toBe(null);
  type("still here\r");
  await waitUntil("the response", () => read().includes("You said: still here"));
  await waitUntil("the prompt", () => read().trimEnd().endsWith("chatter>"));
  type(ctrlC);
  expect(await waitForExit(child)).toBe(130);
  expect(read()).not.toContain("word120");
});

test("chat: a message typed during a turn is queued, and output waits while the user types", async () => {
  const { child, read, type } = startChat("chat", "queuer");
  await waitUntil("the prompt", () => read().includes("queuer> "));
  type("count\r");
  await waitUntil("the count", () => read().includes("word5 "));
  type("and the next");
  await waitUntil("the typed text", () => read().includes("queuer> and the next"));
  const deltasBefore = await countStoredDeltas("queuer");
  await waitUntil("more text", async () => (await countStoredDeltas("queuer")) > deltasBefore + 1);
  expect(read().split("queuer> and the next")).toEqual([expect.any(String), ""]);
  type("\r");
  await waitUntil("the next response", () => read().includes("You said: and the next"));
  // Typing neither dropped nor repeated any part of the response.
  const shownWords =
    read()
      .slice(read().indexOf("word1 "))
      .match(/word\d+/g) ?? [];
  expect(shownWords.join(" ")).toBe(countingText);
  await waitUntil("the prompt", () => read().trimEnd().endsWith("queuer>"));
  type(ctrlD);
  expect(await waitForExit(child)).toBe(0);
});

test("chat continues after main is killed, and says so", async () => {
  const { child, read, type } = startChat("chat", "queuer");
  await waitUntil("the prompt", () => read().includes("queuer> "));
  const main = findMain(host.home);
  process.kill(main?.pid ?? 0, "SIGKILL");
  await waitUntil("the notice", () => read().includes("Connection lost"));
  type("are you there\r");
  await waitUntil("the response", () => read().includes("You said: are you there"));
  expect(read()).toContain("Reconnected.");
  type("/exit\r");
  expect(await waitForExit(child)).toBe(0);
});
