import { type Approval, formatAgencyRef, parseAddress, type Question } from "@thinkery/sdk";
import { useSyncExternalStore } from "react";
import { followObject, followState } from "./follow.ts";
import { call } from "./host.ts";
import { readPages } from "./pages.ts";
import { createSource, type Source } from "./source.ts";

/** What all agents of a user wait for a person to answer, oldest first. */
export interface Inbox {
  approvals: readonly Approval[];
  questions: readonly Question[];
}

/** Names an agent, or a sub-agent by its path. */
export interface AgentPlace {
  agency: string;
  agent: string;
}

const inboxes = new Map<string, Source<Inbox>>();
const counts = new Map<string, WaitingCount>();

export function getInboxSource(user: string): Source<Inbox> {
  let source = inboxes.get(user);
  if (!source) {
    source = createSource(loadInbox, followObject(getUserPath(user)));
    inboxes.set(user, source);
  }
  return source;
}

/** How many approvals and questions wait, as the host says it. Undefined until it is known. */
export function useWaitingCount(user: string): number | undefined {
  let count = counts.get(user);
  if (!count) {
    count = createWaitingCount(user);
    counts.set(user, count);
  }
  return useSyncExternalStore(count.subscribe, count.get);
}

/** Drops what was loaded so that it is not shown to the next user who logs in. */
export function forgetInbox(): void {
  inboxes.clear();
  counts.clear();
}

/** Parses `agency~agent/sub-agent`, as items of the inbox name their agent, into the names that the user has for it. */
export function parseAgentPlace(address: string, user: string): AgentPlace {
  const parsed = parseAddress(address);
  if (!parsed) return { agency: "", agent: address };
  return { agency: formatAgencyRef(user, parsed.agency), agent: parsed.path.join("/") };
}

/** Loads an approval as its agent has it: in full, and also when it was answered. */
export async function loadApproval({ agency, agent }: AgentPlace, id: string): Promise<Approval | undefined> {
  const { approvals } = await call("listAgentApprovals", { params: { agency, agent }, query: { id } });
  return approvals[0];
}

async function loadInbox(): Promise<Inbox> {
  const [approvals, questions] = await Promise.all([
    readPages(async (query) => {
      const page = await call("listApprovals", { query });
      return { items: page.approvals, next: page.next };
    }),
    readPages(async (query) => {
      const page = await call("listQuestions", { query });
      return { items: page.questions, next: page.next };
    }),
  ]);
  return { approvals: approvals.items, questions: questions.items };
}

const getUserPath = (user: string) => `/agents/user/${user}`;

type WaitingCount = ReturnType<typeof createWaitingCount>;

function createWaitingCount(user: string) {
  let waiting: number | undefined;
  return {
    get: () => waiting,
    subscribe: (listener: () => void) =>
      followState(getUserPath(user), {
        state(state) {
          waiting = state.waiting ?? 0;
          listener();
        },
        connection() {},
      }),
  };
}
