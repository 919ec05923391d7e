import { afterAll, beforeAll, expect, test } from "vitest";
import { openTeam } from "../kit/team.ts";
import { deployAgent } from "../kit/user-agent.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

let testbed: Testbed;

beforeAll(async () => {
  testbed = await openTestbed({
    scripts: {
      asker: [
        { when: "from owner", steps: [{ call: { tool: "clerk__add", input: {} } }, { text: "{{ results.0 }}" }] },
        { steps: [{ text: "ok" }] },
      ],
    },
  });
}, 60_000);

afterAll(() => testbed?.stop());

const client = () => testbed.host().client;

test("an agent that fails says so in the channel, with the error and its place in the code", async () => {
  const team = await openTeam(testbed, {});
  await team.api("", "PATCH", { settings: { maxAttempts: 1 } });
  await deployAgent(
    client(),
    "clerk",
    {
      onMessage({ content }) {
        throw new RangeError(`It does not fit: ${content.length > 0}`);
      },
    },
    { agency: team.id },
  );
  const { id } = await team.post("@clerk, file this.");
  const notice = await waitUntil("the notice", async () =>
    (await team.read()).find(({ fromKind }) => fromKind === "host"),
  );
  expect(notice.thread).toBe(id);
  expect(notice.content).toMatch(
    /^clerk could not handle msg-1, and it was given up: RangeError: It does not fit: true\n {4}at .*agent\.js:\d+:\d+/,
  );
  expect(await team.inbox("clerk")).toMatchObject([{ status: "given_up", attempts: 1 }]);
});

test("agents that users write handle messages of their team, and give it their tools", async () => {
  const team = await openTeam(testbed, { asker: "asker" });
  await deployAgent(
    client(),
    "clerk",
    {
      onMessage: ({ content }, ctx) => ctx.send(`Filed: ${content}`),
      tools: { add: { description: "Adds.", parameters: {}, execute: () => "Added by the clerk." } },
    },
    { agency: team.id },
  );
  await team.post("@clerk and @asker, begin.");
  await team.settle("clerk", "asker");
  const readLast = async (name: string) => (await team.agent(name).messages()).at(-1)?.content;
  expect(await readLast("clerk")).toBe("Filed: [msg-1 from owner in #general]\n@clerk and @asker, begin.");
  expect(await readLast("asker")).toContain("Added by the clerk.");
});
