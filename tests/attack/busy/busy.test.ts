import { startHost, type TestHost } from "@thinkery/sdk/test";
import { zipSync } from "fflate";
import { afterAll, beforeAll, expect, test } from "vitest";

// A client with the scope chat asks for as much work as it can. Others are served all the while.

let host: TestHost;
let chatToken: string;

const fileCount = 3000;
const filler = Array.from({ length: 40 }, (_, line) => `line ${line}`).join("\n");

beforeAll(async () => {
  host = await startHost({ scripts: { idle: [{ text: "ok" }] } });
  const { token } = await host.client.call("createToken", { body: { name: "busy", scopes: ["read", "chat"] } });
  chatToken = token;
});

afterAll(() => host?.stop());

async function createLargeAgent(name: string): Promise<void> {
  const agent = await host.agent(name, { model: "scripted:idle" });
  const write = (text: string) =>
    agent.putArchive(
      zipSync(
        Object.fromEntries(
          Array.from({ length: fileCount }, (_, index) => [
            `src/folder-${index % 50}/file-${index}.txt`,
            new TextEncoder().encode(`${text} ${index}\n${filler}`),
          ]),
        ),
      ),
    );
  await write("first");
  await agent.createBranch({ name: "try" });
  await write("second");
}

const send = (path: string, method = "GET", body?: unknown) =>
  fetch(host.url + path, {
    method,
    headers: {
      authorization: `Bearer ${chatToken}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).then(async (response) => {
    await response.arrayBuffer();
    return response.status;
  });

/** Asks for /health over and over until the work is done; returns the number of answers and the longest wait. */
async function countAnswersDuring(
  work: () => Promise<unknown>,
): Promise<{ answers: number; maxWaitMs: number; ms: number }> {
  const started = performance.now();
  let isDone = false;
  const done = work().finally(() => (isDone = true));
  let answers = 0;
  let maxWaitMs = 0;
  while (!isDone) {
    const asked = performance.now();
    expect((await fetch(`${host.url}/health`)).status).toBe(200);
    maxWaitMs = Math.max(maxWaitMs, performance.now() - asked);
    answers++;
  }
  await done;
  return { answers, maxWaitMs, ms: performance.now() - started };
}

/** 60 definitions that refer to the next one twice. */
const doublingSchema = {
  type: "object",
  properties: { a: { $ref: "#/$defs/d0" } },
  $defs: Object.fromEntries(
    Array.from({ length: 60 }, (_, level) => [
      `d${level}`,
      level === 59 ? { type: "string" } : { allOf: [1, 2].map(() => ({ $ref: `#/$defs/d${level + 1}` })) },
    ]),
  ),
};

const createChainedMoves = () => ({
  edits: Array.from({ length: 100 }, (_, index) => ({
    move: index === 0 ? "src" : `moved-${index - 1}`,
    to: `moved-${index}`,
  })),
});

const requests: [what: string, status: number[], send: (at: string) => Promise<number>][] = [
  ["chained folder moves", [413], (at) => send(`${at}/files`, "POST", createChainedMoves())],
  ["the diff of a large version", [200], (at) => send(`${at}/versions/2`)],
  ["a zip of everything", [200], (at) => send(`${at}/archive`)],
  ["a dry run of a large revert", [200], (at) => send(`${at}/revert`, "POST", { version: 2, dryRun: true })],
  ["a dry run of a large merge", [200], (at) => send(`${at}/branches/try/merge`, "POST", { dryRun: true })],
  [
    "a schema whose references double",
    [400],
    (at) =>
      send(`${at}/invoke`, "POST", {
        message: "hi",
        props: {
          tools: [
            { name: "t", description: "d", parameters: doublingSchema, webhook: { url: "https://example.com/" } },
          ],
        },
      }),
  ],
];

test.each([1, 8])(
  "%i expensive requests of each kind at once are answered, and others are served meanwhile",
  async (atOnce) => {
    const name = `large-${atOnce}`;
    await createLargeAgent(name);
    for (const [what, statuses, request] of requests) {
      let results: number[] = [];
      const { answers, maxWaitMs, ms } = await countAnswersDuring(async () => {
        results = await Promise.all(Array.from({ length: atOnce }, () => request(`/agents/${name}`)));
      });
      console.log(
        `${what}, ${atOnce} at once: ${Math.round(ms)} ms, ${answers} other answers, longest wait ${Math.round(maxWaitMs)} ms`,
      );
      // Several run one after the other, and others are served in between: nobody waits for all of them.
      if (atOnce > 1 && ms > 1000) expect([what, maxWaitMs < ms / 2]).toEqual([what, true]);
      expect([what, results.every((status) => statuses.includes(status)), results]).toEqual([what, true, results]);
    }
    // Main was not restarted: nothing held it so long that the daemon noticed.
    expect((await host.client.call("health")).restarts ?? 0).toBe(0);
  },
);
