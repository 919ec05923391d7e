import type { ExpensiveRequest, LargeAgent } from "./expensive-request.ts";

const assignmentCount = 60;

/** The first sub-agents do not end, so the others wait to start. */
export const endlessScript = [{ steps: [{ wait: 600_000 }, { text: "late" }] }];

export const subagentAgents: readonly LargeAgent[] = [
  {
    // Sub-agents whose assignments are as long as possible.
    name: "delegator",
    model: "scripted:endless",
    async create(host) {
      await host.agent("delegator", { model: "scripted:endless" });
      const params = { agency: "global", agent: "delegator" };
      const text = "w".repeat(100_000);
      await Promise.all(
        Array.from({ length: assignmentCount }, async (_, index) => {
          const { taskId } = await host.client.call("createTask", { params, body: { title: `part ${index}` } });
          await host.client.call("spawnSubagent", { params, body: { taskId, description: text, context: text } });
        }),
      );
    },
  },
];

const get = (what: string, path: string): ExpensiveRequest => ({
  kind: "subagents",
  what,
  statuses: [200],
  agent: "delegator",
  method: "GET",
  path,
});

export const subagentRequests: readonly ExpensiveRequest[] = [
  get("the longest assignments", "subagents"),
  get("a state with the longest assignments", "state"),
  get("an export of the longest assignments", "export"),
];
