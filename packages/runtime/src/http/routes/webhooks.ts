import { endpoints, fail, formatAgencyKey, isThinkeryError, parseAgencyKey } from "@thinkery/sdk";
import type { Hono } from "hono";
import { isTimely, parseWebhookSignature } from "../../objects/webhook-signature.ts";
import { readBytes } from "../body.ts";
import { readCallerContext } from "../caller-context.ts";
import { findAgent, requireAgent } from "../directory.ts";
import { checkFailures, noteFailure } from "../failure-limit.ts";
import { toJsonResponse } from "../response.ts";
import { type Call, type HonoEnv, route } from "../route.ts";
import { readSubPath } from "../sub-path.ts";

type DeliveryCall = Call<typeof endpoints.receiveWebhook>;

/** Webhooks of agents, and what is sent to them. */
export function addWebhookRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listWebhooks, async (call) => ({ hooks: await (await requireAgent(call)).webhooks.list() }));

  route(app, endpoints.createWebhook, async (call) =>
    (await requireAgent(call)).webhooks.create(call.body.name, call.caller.user),
  );

  route(app, endpoints.deleteWebhook, async (call) => {
    await (await requireAgent(call)).webhooks.remove(call.params.name);
    return undefined;
  });

  route(app, endpoints.receiveWebhook, async (call) => {
    const { agency, agent, name } = call.params;
    const owner = findOwner(call);
    const key = [formatAgencyKey(owner.user, owner.id), agent, ...readSubPath(call.request), name].join(" ");
    checkFailures(key);
    const receipt = await deliver(call, owner, await readBytes(call.request));
    if (receipt) return toJsonResponse(receipt, receipt.status === "resumed" ? 200 : 202);
    noteFailure(key);
    // The same for everything that does not exist, so that nobody learns what does.
    throw fail(
      "unauthorized",
      `There is no webhook “${name}” of “${agent}” in “${agency}”, or X-Thinkery-Signature is wrong, older than 5 minutes or already used.`,
    );
  });
}

/** Returns whose agency the path means: a caller's own unless it says otherwise, and without a caller the host owner's. */
function findOwner({ caller, params: { agency } }: DeliveryCall): { id: string; user: string } {
  return caller && !agency.includes("@") ? { id: agency, user: caller.user } : parseAgencyKey(agency);
}

async function deliver(
  { env, request, params: { agent, name } }: DeliveryCall,
  owner: { id: string; user: string },
  body: Uint8Array,
) {
  const signature = parseWebhookSignature(request.headers.get("x-thinkery-signature"));
  if (!signature || !isTimely(signature, Date.now()) || readSubPath(request).length > 0) return undefined;
  const target = await findAgent(env, owner.user, owner.id, agent);
  try {
    return await target?.webhooks.receive({
      name,
      signature,
      body,
      contentType: request.headers.get("content-type") ?? undefined,
      key: request.headers.get("idempotency-key") ?? undefined,
      context: readCallerContext(request),
    });
  } catch (error) {
    // It was deleted a moment ago.
    if (isThinkeryError(error) && error.code === "not_found") return undefined;
    throw error;
  }
}
