import { endpoints, fail, formatAgencyKey, parseAddress, parseAgencyKey } from "@thinkery/sdk";
import type { Hono } from "hono";
import { enterAgency, requireAgent } from "../directory.ts";
import { type HonoEnv, route } from "../route.ts";

/** What agents wait for a person to answer, and the rules about it. */
export function addWaitRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listApprovals, ({ env, caller, query }) =>
    env.User.getByName(caller.user).inbox.listApprovals(query),
  );

  route(app, endpoints.answerApproval, async ({ env, request, caller, params, body }) => {
    const agent = await env.User.getByName(caller.user).inbox.findAgent(params.id);
    const address = agent === undefined ? undefined : parseAddress(agent);
    const [name, ...sub] = address?.path ?? [];
    if (!address || name === undefined) throw fail("not_found", "There is no approval with this id.");
    if (body.approvalId !== undefined && body.approvalId !== params.id) {
      throw fail("bad_request", "The path and `approvalId` name different approvals.");
    }
    const agency = parseAgencyKey(address.agency).id;
    const target = await requireAgent({ env, request, caller, params: { agency, agent: name } }, sub);
    return target.waits.answerApproval({ ...body, approvalId: params.id }, caller.user);
  });

  route(app, endpoints.listQuestions, ({ env, caller, query }) =>
    env.User.getByName(caller.user).inbox.listQuestions(query),
  );

  route(app, endpoints.listAgencyApprovals, async ({ env, caller, params, query }) => {
    await enterAgency(env, caller.user, params.agency);
    const prefix = `${formatAgencyKey(caller.user, params.agency)}~`;
    return env.User.getByName(caller.user).inbox.listApprovals(query, prefix);
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
