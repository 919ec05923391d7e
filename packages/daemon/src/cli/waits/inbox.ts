import {
  type AgencyTarget,
  type AgentTarget,
  type Approval,
  type ApprovalStatus,
  fail,
  formatAgencyRef,
  parseAddress,
  type Question,
} from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import { readAllPages } from "../lists.ts";

/** What agents wait for a person to answer. */
export interface OpenWaits {
  approvals: Approval[];
  questions: Question[];
}

/** Returns the agent that asks, as the user names it. */
export function toAgentTarget(address: string, user: string): AgentTarget {
  const { agency = "", path = [address] } = parseAddress(address) ?? {};
  return { kind: "agent", agency: formatAgencyRef(user, agency), agent: path.join("/") };
}

/** Returns what all agents of the user wait for, or only those of an agency, or an agent and its sub-agents. */
export async function listWaits(client: Client, scope?: AgencyTarget | AgentTarget): Promise<OpenWaits> {
  const [approvals, questions] = await Promise.all([listApprovals(client, scope), listAllQuestions(client)]);
  return { approvals, questions: questions.filter(({ agent }) => isInScope(client, agent, scope)) };
}

/** Returns approvals, oldest first: the pending ones by default. */
export async function listApprovals(
  client: Client,
  scope?: AgencyTarget | AgentTarget,
  status?: ApprovalStatus | "all",
): Promise<Approval[]> {
  const approvals = await readAllPages(async (pageQuery) => {
    const query = { ...pageQuery, ...(status ? { status } : {}) };
    const page = await withRetry((signal) =>
      scope
        ? client.call("listAgencyApprovals", { params: { agency: scope.agency }, query, signal })
        : client.call("listApprovals", { query, signal }),
    );
    return { items: page.approvals, next: page.next };
  });
  return approvals.filter(({ agent }) => isInScope(client, agent, scope));
}

/** Returns an approval by its id or the start of it; the only pending one if there is no id. */
export async function findApproval(client: Client, id: string | undefined): Promise<Approval> {
  const pending = await listApprovals(client);
  if (id === undefined) return readWhole(client, pickOnly(pending));
  const found =
    findByPrefix(pending, id, describeApproval) ??
    findByPrefix(await listApprovals(client, undefined, "all"), id, describeApproval);
  if (!found) throw fail("not_found", `No approval “${id}” found. List them with \`thinkery approval ls\`.`);
  return readWhole(client, found);
}

/** Returns the open questions of one agent, without those of its sub-agents. */
export async function listQuestions(client: Client, target: AgentTarget): Promise<Question[]> {
  const questions = await listAllQuestions(client);
  return questions.filter(({ agent }) => isSameAgent(toAgentTarget(agent, client.user), target));
}

function listAllQuestions(client: Client): Promise<Question[]> {
  return readAllPages(async (query) => {
    const page = await withRetry((signal) => client.call("listQuestions", { query, signal }));
    return { items: page.questions, next: page.next };
  });
}

export function isSameAgent(one: AgentTarget, other: AgentTarget): boolean {
  return one.agency === other.agency && one.agent === other.agent;
}

/** Returns the item with this id, or whose id is the only one that starts with it. */
export function findByPrefix<Item extends { id: string }>(
  items: readonly Item[],
  id: string,
  describe: (item: Item) => string,
): Item | undefined {
  const exact = items.find((item) => item.id === id);
  if (exact) return exact;
  const matches = id === "" ? [] : items.filter((item) => item.id.startsWith(id));
  if (matches.length > 1) {
    const list = matches.map((item) => `${item.id} (${describe(item)})`).join(", ");
    throw fail("bad_request", `“${id}” is ambiguous: ${list}. Type more of the id.`);
  }
  return matches[0];
}

/** Returns the shortest starts of ids that tell them apart, at least 8 characters. */
export function shortenIds(ids: readonly string[]): (id: string) => string {
  let length = 8;
  while (new Set(ids.map((id) => id.slice(0, length))).size < new Set(ids).size) length++;
  return (id) => id.slice(0, length);
}

function pickOnly(pending: Approval[]): Approval {
  const [first, second] = pending;
  if (!first) throw fail("not_found", "No approval is pending.");
  if (!second) return first;
  throw fail(
    "bad_request",
    `${pending.length} approvals are pending; pass an id. List them with \`thinkery approval ls\`.`,
  );
}

/** Lists cut long inputs; the agent itself has all of them. */
export async function readWhole(client: Client, approval: Approval): Promise<Approval> {
  if (!approval.shortened) return approval;
  const { agency, agent } = toAgentTarget(approval.agent, client.user);
  const query = { id: approval.id };
  const { approvals } = await withRetry((signal) =>
    client.call("listAgentApprovals", { params: { agency, agent }, query, signal }),
  );
  return approvals[0] ?? approval;
}

const describeApproval = ({ agent, calls }: Approval) =>
  `${calls.map(({ name }) => name).join(", ")} of ${getAgentPath(agent)}`;

/** Returns the path of an agent in its agency. */
export const getAgentPath = (address: string) => parseAddress(address)?.path.join("/") ?? address;

function isInScope(
  { user }: Pick<Client, "user">,
  address: string,
  scope: AgencyTarget | AgentTarget | undefined,
): boolean {
  if (!scope) return true;
  const { agency, agent } = toAgentTarget(address, user);
  if (agency !== scope.agency) return false;
  return scope.kind === "agency" || agent === scope.agent || agent.startsWith(`${scope.agent}/`);
}
