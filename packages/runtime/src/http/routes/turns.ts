import { endpoints, fail } from "@thinkery/sdk";
import type { Hono } from "hono";
import { eventStream, jsonText, stored } from "../answer.ts";
import { callerContext } from "../caller-context.ts";
import { enteredAgent as entered } from "../directory.ts";
import { type HonoEnv, route } from "../route.ts";
import { checkUse } from "../use.ts";

/** Talking to one agent, and reading what came of it. */
export function turnRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.invoke, async (call) => {
    const agent = await entered(call);
    return agent.conversation.admit(call.body, { user: call.caller.user, context: callerContext(call.request) });
  });

  route(app, endpoints.cancelTurn, async (call) => (await entered(call)).conversation.cancel(call.body.runId));

  route(app, endpoints.resolveToolCall, async (call) => (await entered(call)).conversation.resolveToolCall(call.body));

  route(app, endpoints.getState, async (call) => (await entered(call)).conversation.state());

  route(app, endpoints.listEvents, async (call) => {
    const agent = await entered(call);
    if (!wantsStream(call.request)) return agent.conversation.events(call.query);
    // An EventSource that reconnects asks the same address again, so its header is the newer word.
    return eventStream(await agent.conversation.followEvents(lastEventId(call.request) ?? call.query.after, call.query.progress !== undefined));
  });

  route(app, endpoints.listMessages, async (call) => (await entered(call)).conversation.messages(call.query));

  route(app, endpoints.clearMessages, async (call) => {
    await (await entered(call)).conversation.clear(call.caller.user);
    return undefined;
  });

  route(app, endpoints.listActions, async (call) => (await entered(call)).conversation.actions(call.query));

  route(app, endpoints.getUsage, async (call) => (await entered(call)).conversation.usage(call.query.days));

  route(app, endpoints.exportAgent, async (call) => jsonText(await (await entered(call)).conversation.export()));

  route(app, endpoints.getBlob, async (call) => {
    checkUse(call.request, call.caller, "file");
    const blob = await (await entered(call)).conversation.blob(call.params.hash);
    if (!blob) throw fail("not_found", "This agent refers to no such blob.");
    return stored(blob.data, blob.mediaType);
  });
}

// A HEAD has no body, and nobody would ever end the stream behind it.
function wantsStream(request: Request): boolean {
  return request.method === "GET" && (request.headers.get("accept") ?? "").includes("text/event-stream");
}

function lastEventId(request: Request): number | undefined {
  const id = request.headers.get("last-event-id");
  if (!id) return undefined;
  if (!/^\d{1,15}$/.test(id)) throw fail("bad_request", "Last-Event-ID must be the number of an event.");
  return Number(id);
}
