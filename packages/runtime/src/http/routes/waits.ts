import {
  endpoints,
  fail,
  formatAgencyRef,
  hasScope,
  parseAddress,
  parseAgencyKey,
  parseAgencyRef,
  type Scope,
} from "@thinkery/sdk";
import type { Hono } from "hono";
import type { Env } from "../../objects/env.ts";
import type { Caller } from "../authenticate.ts";
import { enterAgency, findMember, narrowCaller, requireAgent } from "../directory.ts";
import { checkMayDo } from "../guard.ts";
import { mergeInboxPages } from "../inbox-pages.ts";
import { type HonoEnv, route } from "../route.ts";

/** What agents wait for a person to answer, and the rules about it. */
export function addWaitRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listApprovals, async ({ env, caller, query }) => {
    const order = (query.status ?? "pending") === "pending" ? "oldest first" : "newest first";
    const { items, ...page } = await readInboxes(
      { env, caller, scope: "approve" },
      { ...query, order },
      async (read) => {
        const { approvals, ...page } = await read.inbox.listApprovals(query, read.prefix);
        return { items: approvals, ...page };
      },
    );
    return { approvals: items, ...page };
  });

  route(app, endpoints.answerApproval, async ({ env, request, caller, params, body }) => {
    const agent = await findAsker(env, caller, params.id);
    const address = agent === undefined ? undefined : parseAddress(agent);
    const [name, ...sub] = address?.path ?? [];
    if (!address || name === undefined) throw fail("not_found", "There is no approval with this id.");
    if (body.approvalId !== undefined && body.approvalId !== params.id) {
      throw fail("bad_request", "The path and `approvalId` name different approvals.");
    }
    const agency = formatAgencyRef(caller.user, address.agency);
    checkMayDo(await narrowCaller(env, caller, agency), "approve", agency);
    const target = await requireAgent({ env, request, caller, params: { agency, agent: name } }, sub);
    return target.waits.answerApproval({ ...body, approvalId: params.id }, caller.user);
  });

  route(app, endpoints.listQuestions, async ({ env, caller, query }) => {
    const options = { ...query, order: "oldest first" } as const;
    const { items, ...page } = await readInboxes({ env, caller, scope: "chat" }, options, async (read) => {
      const { questions, ...page } = await read.inbox.listQuestions(query, read.prefix);
      return { items: questions, ...page };
    });
    return { questions: items, ...page };
  });

  route(app, endpoints.listAgencyApprovals, async ({ env, caller, params, query }) => {
    await enterAgency(env, caller.user, params.agency);
    const { inbox, prefix } = openInbox(env, parseAgencyRef(caller.user, params.agency).key);
    return inbox.listApprovals(query, prefix);
  });

  route(app, endpoints.listAgentApprovals, async (call) => (await requireAgent(call)).waits.listApprovals(call.query));

  route(app, endpoints.approve, async (call) =>
    (await requireAgent(call)).waits.answerApproval(call.body, call.caller.user),
  );

  route(app, endpoints.answerQuestion, async (call) =>
    (await requireAgent(call)).waits.answerQuestion(call.body, call.caller.user),
  );

  route(app, endpoints.getPolicy, async ({ env, caller, params }) =>
    (await enterAgency(env, caller.user, params.agency)).policy.get(),
  );

  route(app, endpoints.putPolicy, async ({ env, caller, params, body }) =>
    (await enterAgency(env, caller.user, params.agency)).policy.put(body),
  );

  route(app, endpoints.listGrants, async ({ env, caller, params }) => ({
    grants: await (await enterAgency(env, caller.user, params.agency)).policy.listGrants(),
  }));

  route(app, endpoints.deleteGrant, async ({ env, caller, params }) => {
    await (await enterAgency(env, caller.user, params.agency)).policy.removeGrant(params.id);
    return undefined;
  });
}

/** Returns the inbox that has what the agents of an agency ask: that of its owner, with those of all their agencies. */
function openInbox(env: Env, agencyKey: string) {
  return { inbox: env.User.getByName(parseAgencyKey(agencyKey).user).inbox, prefix: `${agencyKey}~` };
}

interface SharedQuery {
  env: Env;
  caller: Caller;
  /** What the user may do in the agencies. */
  scope: Scope;
}

type AgencyInbox = ReturnType<typeof openInbox>;

/** Returns the inboxes of the agencies of others where the user has a scope, if the credential allows `needed` there. */
async function listSharedInboxes({ env, caller, scope }: SharedQuery, needed: Scope): Promise<AgencyInbox[]> {
  const keys = await env.User.getByName(caller.user).shared.listKeysWith(scope);
  const members = await Promise.all(keys.map((key) => findMember(env, caller, key)));
  return keys.filter((_, index) => hasScope(members[index]?.scopes ?? [], needed)).map((key) => openInbox(env, key));
}

/** Reads a page of the caller's own inbox, together with those of agencies of others. */
async function readInboxes<T extends { id: string; createdAt: string }>(
  query: SharedQuery,
  options: Parameters<typeof mergeInboxPages>[1],
  read: (from: AgencyInbox) => Promise<{ items: T[]; next?: string | undefined }>,
) {
  const { env, caller } = query;
  const own = read({ inbox: env.User.getByName(caller.user).inbox, prefix: "" });
  const shared = await listSharedInboxes(query, "read");
  return shared.length === 0 ? own : mergeInboxPages(await Promise.all([own, ...shared.map(read)]), options);
}

/** Returns the agent that asks, among the caller's own and those of agencies where the caller may approve. */
async function findAsker(env: Env, caller: Caller, id: string): Promise<string | undefined> {
  const own = await env.User.getByName(caller.user).inbox.findAgent(id);
  if (own !== undefined) return own;
  for (const { inbox, prefix } of await listSharedInboxes({ env, caller, scope: "approve" }, "approve")) {
    const agent = await inbox.findAgent(id);
    if (agent?.startsWith(prefix)) return agent;
  }
  return undefined;
}
