import { endpoints, fail } from "@thinkery/sdk";
import type { Hono } from "hono";
import { toCredentials } from "../authenticate.ts";
import { readCallerContext } from "../caller-context.ts";
import { requireAgent } from "../directory.ts";
import { checkFetchDestination } from "../fetch-destination.ts";
import { hideUserBudget } from "../hide-user-budget.ts";
import { toEventStreamResponse, toJsonStreamResponse, toBlobResponse } from "../response.ts";
import { type HonoEnv, route } from "../route.ts";
import { readSubPath } from "../sub-path.ts";

/** Sends messages to one agent, and reads its conversation, log and usage. */
export function addTurnRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.invoke, async (call) => {
    const agent = await requireAgent(call);
    return agent.conversation.admit(call.body, { user: call.caller.user, context: readCallerContext(call.request) });
  });

  route(app, endpoints.cancelTurn, async (call) => {
    const sub = readSubPath(call.request);
    const name = sub.pop();
    if (name === undefined) return (await requireAgent(call)).conversation.cancel(call.body.runId);
    // Its parent knows what is left of its work, and stops all of it.
    return (await requireAgent(call, sub)).subagents.cancel(name, call.body.runId);
  });

  route(app, endpoints.stopAgent, async (call) => (await requireAgent(call)).conversation.stop(call.caller.user));

  route(app, endpoints.startAgent, async (call) => (await requireAgent(call)).conversation.start(call.caller.user));

  route(app, endpoints.resolveToolCall, async (call) =>
    (await requireAgent(call)).conversation.resolveToolCall(call.body),
  );

  route(app, endpoints.getState, async (call) => (await requireAgent(call)).conversation.getState());

  route(app, endpoints.listEvents, async (call) => {
    const agent = await requireAgent(call);
    if (!wantsStream(call.request)) return agent.conversation.listEvents(call.query);
    // An EventSource reconnects to the same URL, so its header is more recent than the query.
    return toEventStreamResponse(
      await agent.conversation.followEvents(
        readLastEventId(call.request) ?? call.query.after,
        call.query.progress !== undefined,
        toCredentials(call.caller),
      ),
    );
  });

  route(app, endpoints.listMessages, async (call) => (await requireAgent(call)).conversation.listMessages(call.query));

  route(app, endpoints.clearMessages, async (call) => {
    await (await requireAgent(call)).conversation.clear(call.caller.user);
    return undefined;
  });

  route(app, endpoints.listActions, async (call) => (await requireAgent(call)).conversation.listActions(call.query));

  route(app, endpoints.getDiskUsage, async (call) => (await requireAgent(call)).storage.getDiskUsage());

  route(app, endpoints.getUsage, async (call) => {
    const { budget, ...usage } = await (await requireAgent(call)).conversation.getUsage(call.query.days);
    return { ...usage, budget: hideUserBudget(call.caller, budget) };
  });

  route(app, endpoints.exportAgent, async (call) =>
    toJsonStreamResponse(await (await requireAgent(call)).conversation.export()),
  );

  route(app, endpoints.getBlob, async (call) => {
    checkFetchDestination(call.request, call.caller, "file");
    const blob = await (await requireAgent(call)).conversation.readBlob(call.params.hash);
    if (!blob) throw fail("not_found", "Blob not found.");
    return toBlobResponse(blob.data, blob.mediaType);
  });
}

// A HEAD response has no body, so its stream would never be closed.
function wantsStream(request: Request): boolean {
  return request.method === "GET" && (request.headers.get("accept") ?? "").includes("text/event-stream");
}

function readLastEventId(request: Request): number | undefined {
  const id = request.headers.get("last-event-id");
  if (!id) return undefined;
  if (!/^\d{1,15}$/.test(id)) throw fail("bad_request", "Invalid Last-Event-ID: expected the number of an event.");
  return Number(id);
}
