import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cliPath } from "../kit/host-process.ts";
import { waitForExit } from "../kit/processes.ts";
import { spawnProgram } from "../kit/scripted-host.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Approvals and questions in a terminal: `run` and `chat` ask the person in front of it.

const write = (path: string) => ({ tool: "writeFile", input: { path, content: "one\n" } });
const count = { type: "object", properties: { count: { type: "number" } }, required: ["count"] };

let testbed: Testbed;

beforeAll(async () => {
  testbed = await openTestbed({
    config: { model: "scripted:default", turn: { heartbeatSeconds: 1 } },
    scripts: {
      default: [
        { when: "/^write$/", steps: [{ calls: [write("a.txt")] }, { text: "Heard: {{ results.0 }}" }] },
        { when: "/^Write it$/", steps: [{ calls: [write("c.txt")] }, { text: "Done: {{ results.0 }}" }] },
        {
          when: "/^form$/",
          steps: [
            { call: { tool: "askUser", input: { prompt: "How many?", schema: count } } },
            { text: "Heard: {{ results.0 }}" },
          ],
        },
        {
          when: "/^delegate$/",
          steps: [
            { call: { tool: "task", input: { description: "Write it" } } },
            { text: "They said: {{ results.0 }}" },
          ],
        },
        { steps: [{ text: "You said: {{ message }}" }] },
      ],
    },
  });
}, 60_000);

afterAll(() => testbed?.stop());

async function newAgent(): Promise<TestAgent> {
  const config = { hitl: { tools: ["writeFile"] } };
  return testbed.newAgent({ blueprint: await testbed.newBlueprint({ model: "scripted:default", config }) });
}

/** Runs the CLI in a terminal, as a person would. */
function openTerminal(...args: string[]) {
  const editor = "EDITOR='sed -i s/one/two/'";
  const command = `stty cols 100 rows 40; ${editor} exec '${process.execPath}' '${cliPath}' ${args.join(" ")}`;
  const { child, out } = spawnProgram(testbed.host(), "script", ["-qec", command, "/dev/null"]);
  let seen = 0;
  // The visible text, without colors and cursor movements.
  const read = () => stripVTControlCharacters(out()).replaceAll("\r", "");
  /** Waits until a text is shown after those that were waited for before. */
  const expectText = (text: string) =>
    waitUntil(`“${text}” in:\n${read()}`, () => {
      const at = read().indexOf(text, seen);
      if (at >= 0) seen = at + text.length;
      return at >= 0;
    });
  return { child, read, expectText, type: (keys: string) => child.stdin?.write(keys) };
}

const choices = "[y]es  [n]o  [e]dit  [a]lways  [d]etails: ";

test("run shows what is asked, and goes on with the answer", async () => {
  const { name } = await newAgent();
  const { child, expectText, type } = openTerminal("run", name, "write");
  await expectText(`${name} asks for approval:`);
  await expectText("+one");
  await expectText(choices);
  type("d\r");
  await expectText("digest");
  await expectText('"path": "a.txt"');
  await expectText(choices);
  type("y\r");
  await expectText("Heard: Created a.txt");
  expect(await waitForExit(child)).toBe(0);
});

test("an input can be edited before it is approved", async () => {
  const agent = await newAgent();
  const { child, expectText, type } = openTerminal("run", agent.name, "write");
  await expectText(choices);
  type("e\r");
  await expectText("Heard: Created a.txt");
  expect(await waitForExit(child)).toBe(0);
  expect((await testbed.api(`${agent.at}/files/a.txt`)).body).toBe("two\n");
});

test("a call is denied with a reason", async () => {
  const { name } = await newAgent();
  const { child, expectText, type } = openTerminal("run", name, "write");
  await expectText(choices);
  type("n\r");
  await expectText("Why?");
  type("Not today.\r");
  await expectText("Heard: A person denied");
  expect(await waitForExit(child)).toBe(0);
});

test("calls can be approved from now on", async () => {
  const { name } = await newAgent();
  const { child, expectText, type } = openTerminal("run", name, "write");
  await expectText(choices);
  type("a\r");
  await expectText("This allows writeFile");
  await expectText("(Enter to go back): ");
  type("t\r");
  await expectText("Heard: Created a.txt");
  expect(await waitForExit(child)).toBe(0);
  expect((await testbed.host().runCli(["run", name, "write"])).code).toBe(0);
});

test("Ctrl+D leaves the turn waiting, and an answer from elsewhere ends the prompt", async () => {
  const left = openTerminal("run", (await newAgent()).name, "write");
  await left.expectText(choices);
  left.type("\u0004");
  await left.expectText("waits for your approval:");
  expect(await waitForExit(left.child)).toBe(4);

  const agent = await newAgent();
  const answered = openTerminal("run", agent.name, "write");
  await answered.expectText(choices);
  await testbed.api(`${agent.at}/approve`, "POST", { approved: true });
  await answered.expectText("Heard: Created a.txt");
  expect(await waitForExit(answered.child)).toBe(0);
});

test("a wrong answer to a question is explained, and the question is asked again", async () => {
  const { name } = await newAgent();
  const { child, expectText, type } = openTerminal("run", name, "form");
  await expectText("How many?");
  await expectText("Answer: ");
  type("many\r");
  await expectText("Invalid `value`");
  await expectText("Answer: ");
  type('{"count": 3}\r');
  await expectText('Heard: {"count":3}');
  expect(await waitForExit(child)).toBe(0);
});

test("chat asks, too, also for sub-agents, and its commands still work", async () => {
  const { name } = await newAgent();
  const { child, expectText, type } = openTerminal("chat", name);
  await expectText(`${name}> `);
  type("delegate\r");
  await expectText(`${name}/`);
  await expectText("asks for approval:");
  await expectText(choices);
  type("/title\r");
  await expectText("No title yet.");
  await expectText(choices);
  type("y\r");
  await expectText("They said: Done: Created c.txt");
  await expectText(`${name}> `);
  type("write\r");
  await expectText(choices);
  type("e\r");
  await expectText("Heard: Created a.txt");
  await expectText(`${name}> `);
  type("hello\r");
  await expectText("You said: hello");
  type("/exit\r");
  expect(await waitForExit(child)).toBe(0);
});
