import { maxMessageChars } from "@thinkery/sdk";
import type { TestHost } from "@thinkery/sdk/test";
import type { ExpensiveRequest, LargeAgent } from "./expensive-request.ts";
import { isLongRun } from "./sample.ts";

const sleeperCount = 50;
// All of it takes minutes to create.
const posts = isLongRun() ? 1000 : 200;
const crowdCount = isLongRun() ? 1000 : 200;
const deletedChannels = 3;
const messagesPerChannel = isLongRun() ? 2000 : 500;

const range = (count: number) => [...Array(count).keys()];
const sleepers = range(sleeperCount).map((index) => `sleeper-${index}`);

async function createAgency(host: TestHost, id: string, agents: readonly string[]): Promise<void> {
  await host.client.call("createAgency", { body: { id } });
  await repeat(agents, (name) =>
    host.client.call("createAgent", { params: { agency: id }, body: { name, model: "scripted:endless" } }),
  );
}

/** Does the work for all items, some at a time. */
async function repeat<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const queue = [...items];
  const next = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(range(16).map(next));
}

const post = (host: TestHost, agency: string, channel: string, body: { content: string; to?: string[] }) =>
  host.client.call("postChannelMessage", { params: { agency, channel }, body });

export const teamAgents: readonly LargeAgent[] = [
  {
    // Fifty agents that never end their turns, with many messages in each inbox.
    name: "mailbox",
    async create(host) {
      await createAgency(host, "mailbox", sleepers);
      await repeat(range(posts), (index) => post(host, "mailbox", "general", { content: `${index}`, to: sleepers }));
      await repeat(range(100), () =>
        host.client.call("postChannelMessage", {
          params: { agency: "mailbox", channel: "general" },
          body: { content: "a long answer ".repeat(4000), thread: "msg-1" },
        }),
      );
    },
  },
  {
    // Channels with many messages, for those who are named in them.
    name: "channels",
    async create(host) {
      await createAgency(host, "channels", sleepers.slice(0, 5));
      for (const index of range(deletedChannels)) {
        const name = `news-${index}`;
        await host.client.call("createChannel", { params: { agency: "channels" }, body: { name } });
        const content = `news for @sleeper-0 and @sleeper-1 ${"and so on ".repeat(20)}`;
        await repeat(range(messagesPerChannel), () => post(host, "channels", name, { content }));
      }
    },
  },
  {
    // Many agents with names that are hard to tell apart; some have been written to.
    name: "crowd",
    async create(host) {
      await createAgency(
        host,
        "crowd",
        range(crowdCount).map((index) => `${"agent".repeat(8)}-${index}`),
      );
      const to = range(50).map((index) => `${"agent".repeat(8)}-${index}`);
      await post(host, "crowd", "general", { content: "hello", to });
    },
  },
  {
    name: "documents",
    async create(host) {
      await createAgency(host, "documents", []);
      const params = { agency: "documents" };
      for (const part of range(4)) {
        const edits = range(250).map((index) => ({
          write: `${part}/${index}.md`,
          content: `text ${index}\n`.repeat(50),
        }));
        await host.client.call("editDocuments", { params, body: { edits } });
      }
    },
  },
];

type Request = Pick<ExpensiveRequest, "what" | "method" | "path"> &
  Partial<Pick<ExpensiveRequest, "body" | "statuses" | "scope" | "isPage">>;

const toRequests = (agent: string, requests: readonly Request[]): ExpensiveRequest[] =>
  requests.map(({ statuses = [200, 201], ...rest }) => ({ kind: "teams", agent, statuses, ...rest }));

const toText = (count: number, toWord: (index: number) => string) => range(count).map(toWord).join(" ");

const listIds = (count: number, first: number) => range(count).map((index) => `msg-${index + first}`);

const fill = (text: string) => text.repeat(Math.floor(maxMessageChars / text.length));

const toMailbox = (what: string, content: unknown, more: object = {}): Request => ({
  what,
  method: "POST",
  path: "/agency/mailbox/channels/general/messages",
  body: { content, ...more },
  statuses: [201, 400],
});

let deletions = 0;

/** Fifty agents with as long prompts as there may be. */
const createWorkflow = (name: string, prompt: string, vars: Record<string, string> = {}) => ({
  workflow: {
    name,
    agents: Object.fromEntries(
      range(50).map((index) => [
        `a${index}`,
        { model: "scripted:endless", system_prompt: prompt.repeat(Math.floor(100_000 / prompt.length)) },
      ]),
    ),
    vars,
    kickoff: "begin",
  },
  tag: "x",
});

const manyVars = Object.fromEntries(range(199).map((index) => [`branch${index}`, "x"]));

const runs: Record<string, object> = {
  "long prompts": createWorkflow("long", "Work hard. "),
  "nested openings": createWorkflow("nested", "${{ ${{ "),
  "openings that never end": createWorkflow("open", "${{"),
  "variables that are nearly known": createWorkflow("near", "${{vars.brnch}}", manyVars),
  "values that are long": createWorkflow("values", "${{vars.long}}", { long: "x".repeat(100_000) }),
  placeholders: createWorkflow("many", "${{vars.a}}", { a: "x" }),
};

const mailboxPages = [
  "channels/general/messages?since=2020-01-01&until=2100-01-01&limit=500",
  "channels/general/messages?since=2100-01-01",
  "channels/general/messages?newest=1&limit=500",
  "channels/general/messages?thread=msg-1&limit=500",
  "inbox/sleeper-0?status=all&limit=500",
  "members?limit=500",
];

const toMailboxChange = (what: string, path: string, body: object): Request => ({
  what,
  method: "POST",
  path: `/agency/mailbox/inbox/${path}`,
  body,
});

const mailboxRequests = toRequests("mailbox", [
  toMailbox("4 MB of mentions", fill("@sleeper-1 ")),
  toMailbox("4 MB of mentions of nobody", toText(400_000, (index) => `@x${index}`).slice(0, maxMessageChars)),
  toMailbox("4 MB of backticks", fill("`` ` @sleeper-2 ")),
  toMailbox("4 MB of one mention", `@${fill("a.").slice(2)}@`),
  toMailbox("4 MB of secrets in parts", fill("sk-")),
  toMailbox("fifty recipients", "wake up", { to: sleepers }),
  toMailbox(
    "fifty mentions again and again",
    sleepers
      .map((name) => `@${name}`)
      .join(" ")
      .repeat(80),
  ),
  toMailboxChange("everything is handled", "sleeper-7/ack", { until: "2100-01-01" }),
  toMailboxChange("many items are handled", "sleeper-8/ack", { ids: listIds(posts / 2, 1) }),
  toMailboxChange("many items are delivered again", "sleeper-9/retry", { ids: listIds(posts / 2, posts / 4) }),
  ...mailboxPages.map((path): Request => ({
    what: `GET ${path}`,
    method: "GET",
    path: `/agency/mailbox/${path}`,
    isPage: true,
  })),
]);

const channelRequests = toRequests("channels", [
  {
    what: "a channel with many messages is deleted",
    method: "DELETE",
    path: () => `/agency/channels/channels/news-${deletions++ % deletedChannels}`,
    scope: "admin",
    statuses: [204, 404],
  },
  ...Object.entries(runs).map(([what, body]): Request => ({
    what: `a workflow of ${what}`,
    method: "POST",
    path: "/workflow-runs",
    body,
    statuses: [202, 400, 409],
  })),
]);

const crowdRequests = toRequests("crowd", [
  { what: "many members", method: "GET", path: "/agency/crowd/members?limit=500", isPage: true },
  { what: "many agents", method: "GET", path: "/agency/crowd/agents?limit=500", isPage: true },
  {
    what: "names that resemble many others",
    method: "POST",
    path: "/agency/crowd/channels/general/messages",
    body: { content: toText(500, (index) => `@${"agent".repeat(8)}${index}`) },
  },
]);

const documentRequests = toRequests("documents", [
  { what: "a thousand documents", method: "GET", path: "/agency/documents/documents?limit=500" },
  {
    what: "250 documents are written",
    method: "POST",
    path: "/agency/documents/documents",
    body: { edits: range(250).map((index) => ({ write: `1/${index}.md`, content: `other ${index}\n`.repeat(50) })) },
  },
  {
    what: "a folder of documents is moved back and forth",
    method: "POST",
    path: "/agency/documents/documents",
    body: {
      edits: [
        { move: "2", to: "two" },
        { move: "two", to: "2" },
      ],
    },
  },
  { what: "versions of documents", method: "GET", path: "/agency/documents/versions" },
]);

export const teamRequests: readonly ExpensiveRequest[] = [
  ...mailboxRequests,
  ...channelRequests,
  ...crowdRequests,
  ...documentRequests,
];
