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
import { mergeApprovals } from "../approval-pages.ts";
import type { Caller } from "../authenticate.ts";
import { enterAgency, findMember, narrowCaller, requireAgent } from "../directory.ts";
import { checkMayDo } from "../guard.ts";
import { type HonoEnv, route } from "../route.ts";

/** What agents wait for a person to answer, and the rules about it. */
export function addWaitRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listApprovals, async ({ env, caller, query }) => {
    const { inbox } = env.User.getByName(caller.user);
    const shared = await listSharedInboxes(env, caller, "read");
    if (shared.length === 0) return inbox.listApprovals(query);
    const pages = shared.map(({ inbox, prefix }) => inbox.listApprovals(query, prefix));
    return mergeApprovals(await Promise.all([inbox.listApprovals(query), ...pages]), query);
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

  route(app, endpoints.listQuestions, ({ env, caller, query }) =>
    env.User.getByName(caller.user).inbox.listQuestions(query),
  );

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

/** Returns the inboxes of the agencies of others where the user may approve, if the credential allows this scope there. */
async function listSharedInboxes(env: Env, caller: Caller, scope: Scope) {
  const keys = await env.User.getByName(caller.user).shared.listKeysWith("approve");
  const members = await Promise.all(keys.map((key) => findMember(env, caller, key)));
  return keys.filter((_, index) => hasScope(members[index]?.scopes ?? [], scope)).map((key) => openInbox(env, key));
}

/** Returns the agent that asks, among the caller's own and those of agencies where the caller may approve. */
async function findAsker(env: Env, caller: Caller, id: string): Promise<string | undefined> {
  const own = await env.User.getByName(caller.user).inbox.findAgent(id);
  if (own !== undefined) return own;
  for (const { inbox, prefix } of await listSharedInboxes(env, caller, "approve")) {
    const agent = await inbox.findAgent(id);
    if (agent?.startsWith(prefix)) return agent;
  }
  return undefined;
}
