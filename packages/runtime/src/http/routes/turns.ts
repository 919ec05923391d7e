import { endpoints, fail } from "@thinkery/sdk";
import type { Hono } from "hono";
import { readCallerContext } from "../caller-context.ts";
import { requireAgent as entered } from "../directory.ts";
import { checkFetchDestination } from "../fetch-destination.ts";
import { toEventStreamResponse, toJsonStreamResponse, toBlobResponse } from "../response.ts";
import { type HonoEnv, route } from "../route.ts";

/** Talking to one agent, and reading what came of it. */
export function addTurnRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.invoke, async (call) => {
    const agent = await entered(call);
    return agent.conversation.admit(call.body, { user: call.caller.user, context: readCallerContext(call.request) });
  });

  route(app, endpoints.cancelTurn, async (call) => (await entered(call)).conversation.cancel(call.body.runId));

  route(app, endpoints.resolveToolCall, async (call) => (await entered(call)).conversation.resolveToolCall(call.body));

  route(app, endpoints.getState, async (call) => (await entered(call)).conversation.getState());

  route(app, endpoints.listEvents, async (call) => {
    const agent = await entered(call);
    if (!wantsStream(call.request)) return agent.conversation.listEvents(call.query);
    // An EventSource that reconnects asks the same address again, so its header is the newer word.
    return toEventStreamResponse(
      await agent.conversation.followEvents(
        readLastEventId(call.request) ?? call.query.after,
        call.query.progress !== undefined,
      ),
    );
  });

  route(app, endpoints.listMessages, async (call) => (await entered(call)).conversation.listMessages(call.query));

  route(app, endpoints.clearMessages, async (call) => {
    await (await entered(call)).conversation.clear(call.caller.user);
    return undefined;
  });

  route(app, endpoints.listActions, async (call) => (await entered(call)).conversation.listActions(call.query));

  route(app, endpoints.getUsage, async (call) => (await entered(call)).conversation.getUsage(call.query.days));

  route(app, endpoints.exportAgent, async (call) =>
    toJsonStreamResponse(await (await entered(call)).conversation.export()),
  );

  route(app, endpoints.getBlob, async (call) => {
    checkFetchDestination(call.request, call.caller, "file");
    const blob = await (await entered(call)).conversation.readBlob(call.params.hash);
    if (!blob) throw fail("not_found", "This agent refers to no such blob.");
    return toBlobResponse(blob.data, blob.mediaType);
  });
}

// A HEAD has no body, and nobody would ever end the stream behind it.
function wantsStream(request: Request): boolean {
  return request.method === "GET" && (request.headers.get("accept") ?? "").includes("text/event-stream");
}

function readLastEventId(request: Request): number | undefined {
  const id = request.headers.get("last-event-id");
  if (!id) return undefined;
  if (!/^\d{1,15}$/.test(id)) throw fail("bad_request", "Last-Event-ID must be the number of an event.");
  return Number(id);
}
