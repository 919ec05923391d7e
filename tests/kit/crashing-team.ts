import { type AgentEvent, type ChannelMessage, type InboxItem, parseDelivery, type TeamTask } from "@thinkery/sdk";
import { turnEndTypes } from "./worker/testbed.ts";

// A team of five whose work has everything in it that a crash could repeat or lose, and what has to be true afterwards.

const call = (tool: string, input: object) => ({ tool, input });
const send = (message: string, more: object = {}) => ({ call: call("channel_send", { message, ...more }) });
const append = (line: string) => ({ call: call("team_doc_append", { name: "log.md", content: `${line}\n` }) });

/** Claims a task that everyone wants, and one of its own; ends its own; then answers. */
const createPart = (name: string, index: number, answer: object = {}) => [
  { calls: [call("team_task_list", {}), call("channel_read", { limit: 5 })] },
  {
    calls: [0, index].map((task) => call("team_task_claim", { id: `{{ results.team_task_list.tasks.${task}.id }}` })),
  },
  append(`${name} {{ turn }}`),
  { call: call("team_task_complete", { id: `{{ results.team_task_list.tasks.${index}.id }}`, result: name }) },
  send(`@lead, ${name} is done.`, answer),
  { text: `${name} is done.` },
];

const failAfterCall = { steps: [{ call: call("my_status_set", { status: "trying" }) }, { fail: 400 }] };

export const crashScripts: Record<string, unknown> = {
  lead: [
    {
      when: "begin the work",
      steps: [
        { call: call("team_doc_create", { name: "plan.md", content: "The plan.\n" }) },
        { calls: [0, 1, 2, 3].map((index) => call("team_task_create", { title: `task ${index}` })) },
        send("@writer and @tester, do your part."),
        send("Also @flaky and @later: do your part."),
        { text: "Delegated." },
      ],
    },
    { steps: [append("lead {{ turn }}"), { text: "The report is ready." }] },
  ],
  writer: [
    { when: "do your part", steps: createPart("writer", 0) },
    { steps: [append("writer, more"), { text: "Ok." }] },
  ],
  tester: [
    { when: "do your part", steps: createPart("tester", 1, { thread: "msg-1" }) },
    { steps: [send("@lead, more."), { text: "Ok." }] },
  ],
  // Two turns fail after they have done something.
  flaky: [failAfterCall, failAfterCall, { steps: createPart("flaky", 2, { priority: "high" }) }],
  later: [
    {
      steps: [
        { call: call("my_inbox", {}) },
        { call: call("my_inbox_defer", { id: "{{ results.my_inbox.items.0.id }}", until: 1 }) },
        { text: "Later." },
      ],
    },
    { steps: createPart("later", 3) },
  ],
  hopeless: [failAfterCall],
};

export const crew = ["lead", "writer", "tester", "flaky", "later"];

export function createCrewWorkflow(name: string, isHopeless: boolean) {
  const agents = crew.map((agent) => [
    agent,
    { model: `scripted:${agent === "flaky" && isHopeless ? "hopeless" : agent}` },
  ]);
  return {
    name,
    agents: Object.fromEntries(agents),
    context: { documents: { "log.md": "begin\n" } },
    kickoff: "@lead, begin the work.",
  };
}

/** Everything that is left of a run. */
export interface Remains {
  messages: ChannelMessage[];
  items: Record<string, InboxItem[]>;
  logs: Record<string, AgentEvent[]>;
  tasks: TeamTask[];
  /** The lines of the document that agents append to. */
  lines: string[];
  maxAttempts: number;
}

/** Returns what is not as it has to be, however often the host died. */
export function findProblems(remains: Remains): string[] {
  return [
    ...findMessageProblems(remains),
    ...Object.keys(remains.items).flatMap((agent) => findInboxProblems(agent, remains)),
    ...findTaskProblems(remains),
    ...findDocumentProblems(remains),
  ];
}

type Output = Extract<AgentEvent, { type: "tool.output" }>["data"];

const listOutputs = (log: readonly AgentEvent[], tool: string): Output[] =>
  log.flatMap(({ type, data }) => (type === "tool.output" && data.toolName === tool ? data : []));

/** Each call that sent a message has one message, and each message of an agent has its call. */
function findMessageProblems({ messages, logs }: Remains): string[] {
  return Object.entries(logs).flatMap(([agent, log]) => {
    const sent = listOutputs(log, "channel_send").map(({ output }) => (JSON.parse(output) as { id: string }).id);
    const posted = messages.flatMap(({ from, fromKind, id }) => (fromKind === "agent" && from === agent ? id : []));
    return sent.toSorted().join() === posted.toSorted().join()
      ? []
      : [`${agent} sent ${sent.join()}, and posted is ${posted.join()}`];
  });
}

interface CrewTurn {
  messages: string[];
  end: AgentEvent["type"] | undefined;
  /** Messages that it put off. */
  deferred: string[];
}

function listTurns(log: readonly AgentEvent[]): CrewTurn[] {
  return log.flatMap(({ type, data }) => {
    if (type !== "request.accepted") return [];
    const { runId, messages } = data;
    const delivered = messages.flatMap(({ content }) => parseDelivery(content) ?? []);
    const end = log.find(
      (event) => turnEndTypes.includes(event.type) && "runId" in event.data && event.data.runId === runId,
    );
    const deferred = listOutputs(log, "my_inbox_defer")
      .filter((output) => output.runId === runId)
      .map(({ output }) => (JSON.parse(output) as { id: string }).id);
    return { messages: delivered.map(({ id }) => id), end: end?.type, deferred };
  });
}

/** Each item was handled by one turn, or is given up after as many as were allowed. */
function findInboxProblems(agent: string, { items, logs, maxAttempts }: Remains): string[] {
  const turns = listTurns(logs[agent] ?? []);
  const open = turns
    .filter(({ end }) => end === undefined)
    .map(({ messages }) => `a turn with ${messages.join()} is open`);
  const ofItems = (items[agent] ?? []).flatMap(({ id, status, attempts, error }) => {
    const all = turns.filter(({ messages }) => messages.includes(id));
    const others = all.filter(({ deferred }) => !deferred.includes(id));
    const completed = others.filter(({ end }) => end === "agent.completed").length;
    const failed = others.length - completed;
    const problems = [
      ...(status === "acked" && completed !== 1 ? [`was handled ${completed} times`] : []),
      ...(status === "given_up" && completed > 0 ? ["is given up, and was handled"] : []),
      ...(status === "given_up" && !error ? ["is given up without a reason"] : []),
      ...(status !== "acked" && status !== "given_up" ? [`is ${status}`] : []),
      ...(failed > maxAttempts ? [`failed ${failed} times`] : []),
      ...(all.length > attempts ? [`had ${all.length} turns in ${attempts} attempts`] : []),
    ];
    return problems.map((problem) => `${id} ${problem}`);
  });
  return [...open, ...ofItems].map((problem) => `${agent}: ${problem}`);
}

/** Each task that anyone claimed was claimed by one, and the lead's calls created each one once. */
function findTaskProblems({ tasks, logs }: Remains): string[] {
  const created = listOutputs(logs.lead ?? [], "team_task_create").length;
  const problems = created === tasks.length ? [] : [`${created} tasks were created, and ${tasks.length} are there`];
  for (const { id, title, claimedBy, status } of tasks) {
    const claims = Object.entries(logs).flatMap(([agent, log]) =>
      listOutputs(log, "team_task_claim").some(({ output }) => (JSON.parse(output) as { id: string }).id === id)
        ? agent
        : [],
    );
    if (claims.length > 1) problems.push(`“${title}” was claimed by ${claims.join(" and ")}`);
    if (claims[0] !== claimedBy)
      problems.push(`“${title}” (${status}) is of ${claimedBy}, and ${claims[0]} claimed it`);
  }
  return problems;
}

/** Each call that appended a line appended it once: every line has the name of its agent. */
function findDocumentProblems({ lines, logs }: Remains): string[] {
  return Object.entries(logs).flatMap(([agent, log]) => {
    const calls = listOutputs(log, "team_doc_append").length;
    const own = lines.filter((line) => line.startsWith(agent));
    const numbered = own.filter((line) => /\d$/.test(line));
    if (new Set(numbered).size < numbered.length) return [`${agent} appended a line twice: ${own.join("; ")}`];
    return calls === own.length ? [] : [`${agent} appended ${calls} times: ${own.join("; ")}`];
  });
}
