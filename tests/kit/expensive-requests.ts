import type { TestHost } from "@thinkery/sdk/test";
import { zipSync } from "fflate";

const fileCount = 3000;
const filler = Array.from({ length: 40 }, (_, line) => `line ${line}`).join("\n");

/** Creates an agent with thousands of files, all of them changed in version 2 and on the branch `try` as before. */
export async function createLargeAgent(host: TestHost, name: string): Promise<void> {
  const agent = await host.agent(name);
  const write = (text: string) => agent.putArchive(zipSync(createFiles(text)));
  await write("first");
  await agent.createBranch({ name: "try" });
  await write("second");
}

const createFiles = (text: string) =>
  Object.fromEntries(
    Array.from({ length: fileCount }, (_, index) => [
      `src/folder-${index % 50}/file-${index}.txt`,
      new TextEncoder().encode(`${text} ${index}\n${filler}`),
    ]),
  );

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

interface ExpensiveRequest {
  what: string;
  /** The expected status: the work is done within its limits, or refused. */
  status: number;
  method: "GET" | "POST";
  /** Below the agent. */
  path: string;
  body?: unknown;
}

/** Requests of a chat client that are small to send and as much work as possible. */
export const expensiveRequests: readonly ExpensiveRequest[] = [
  {
    what: "chained folder moves",
    status: 413,
    method: "POST",
    path: "files",
    body: {
      edits: Array.from({ length: 100 }, (_, index) => ({
        move: index === 0 ? "src" : `moved-${index - 1}`,
        to: `moved-${index}`,
      })),
    },
  },
  { what: "the diff of a large version", status: 200, method: "GET", path: "versions/2" },
  { what: "a zip of everything", status: 200, method: "GET", path: "archive" },
  {
    what: "a dry run of a large revert",
    status: 200,
    method: "POST",
    path: "revert",
    body: { version: 2, dryRun: true },
  },
  {
    what: "a dry run of a large merge",
    status: 200,
    method: "POST",
    path: "branches/try/merge",
    body: { dryRun: true },
  },
  {
    what: "a schema whose references double",
    status: 400,
    method: "POST",
    path: "invoke",
    body: {
      message: "hi",
      props: {
        tools: [{ name: "t", description: "d", parameters: doublingSchema, webhook: { url: "https://example.com/" } }],
      },
    },
  },
];

interface Waits {
  statuses: number[];
  totalMs: number;
  /** Requests of another client that were answered meanwhile, and the longest it waited for one. */
  answers: number;
  maxWaitMs: number;
}

/** Sends a request several times at once, while another client asks for /health over and over. */
export async function sendWhileOthersWait(
  { url }: Pick<TestHost, "url">,
  token: string,
  agent: string,
  { method, path, body }: ExpensiveRequest,
  atOnce: number,
): Promise<Waits> {
  const send = async () => {
    const response = await fetch(`${url}/agents/${agent}/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await response.arrayBuffer();
    return response.status;
  };
  const startedAt = performance.now();
  let isDone = false;
  const sent = Promise.all(Array.from({ length: atOnce }, send)).finally(() => (isDone = true));
  let answers = 0;
  let maxWaitMs = 0;
  while (!isDone) {
    const askedAt = performance.now();
    await (await fetch(`${url}/health`)).arrayBuffer();
    maxWaitMs = Math.max(maxWaitMs, performance.now() - askedAt);
    answers++;
  }
  return { statuses: await sent, totalMs: performance.now() - startedAt, answers, maxWaitMs };
}
