import { getInboxSource, parseAgentPlace } from "../api/inbox.ts";
import { useLogin } from "../api/login.ts";
import { useSource } from "../api/source.ts";

/** An agent that waits for a person. */
export interface Ask {
  /** Its path. */
  agent: string;
  kind: "approval" | "answer";
}

/** Lists the sub-agents of an agent that wait for a person, approvals first. Loads nothing unless `isNeeded`. */
export function useAsks(agency: string, agent: string, isNeeded: boolean): Ask[] {
  const login = useLogin();
  const user = login.state === "in" ? login.who.user : undefined;
  const { value } = useSource(isNeeded && user !== undefined ? getInboxSource(user) : undefined);
  if (!value || user === undefined) return [];
  const asks = [
    ...value.approvals.map((item) => ({ ...parseAgentPlace(item.agent, user), kind: "approval" as const })),
    ...value.questions.map((item) => ({ ...parseAgentPlace(item.agent, user), kind: "answer" as const })),
  ];
  return asks.filter((ask) => ask.agency === agency && ask.agent.startsWith(`${agent}/`));
}

/** Returns the ask of a sub-agent, or of one below it. */
export function findAsk(asks: readonly Ask[], path: string): Ask | undefined {
  return asks.find(({ agent }) => agent === path) ?? asks.find(({ agent }) => agent.startsWith(`${path}/`));
}
