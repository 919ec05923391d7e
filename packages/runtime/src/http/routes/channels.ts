import { endpoints } from "@thinkery/sdk";
import type { Hono } from "hono";
import type { Actor } from "../../agency/actor.ts";
import type { Env } from "../../objects/env.ts";
import type { Caller } from "../authenticate.ts";
import { enterAgency } from "../directory.ts";
import { type HonoEnv, route } from "../route.ts";

interface AgencyCall {
  env: Env;
  caller: Caller;
  params: { agency: string };
}

const openTeam = async ({ env, caller, params }: AgencyCall) =>
  (await enterAgency(env, caller.user, params.agency)).team;

const toActor = ({ caller }: AgencyCall): Actor => ({ kind: "user", name: caller.user });

/** The channels of an agency, and the inboxes of its agents. */
export function addChannelRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listChannels, async (call) => (await openTeam(call)).listChannels(call.query));

  route(app, endpoints.createChannel, async (call) => {
    const channel = await (await openTeam(call)).createChannel(call.body, toActor(call));
    return { ...channel, id: channel.name };
  });

  route(app, endpoints.deleteChannel, async (call) => {
    await (await openTeam(call)).deleteChannel(call.params.channel);
    return undefined;
  });

  route(app, endpoints.listChannelMessages, async (call) =>
    (await openTeam(call)).readChannel(call.params.channel, call.query, toActor(call)),
  );

  route(app, endpoints.postChannelMessage, async (call) =>
    (await openTeam(call)).post(call.params.channel, call.body, toActor(call)),
  );

  route(app, endpoints.listInbox, async (call) => (await openTeam(call)).listInbox(call.params.agent, call.query));

  route(app, endpoints.ackInbox, async (call) => (await openTeam(call)).ack(call.params.agent, call.body));

  route(app, endpoints.deferInbox, async (call) => (await openTeam(call)).defer(call.params.agent, call.body));

  route(app, endpoints.retryInbox, async (call) => (await openTeam(call)).retry(call.params.agent, call.body.ids));
}
