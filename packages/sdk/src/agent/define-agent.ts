import type { SettingsSchema } from "../protocol/setting-values.ts";
import { createLifecycleContext, createMessageContext } from "./context.ts";
import type { AgentDefinition, Data, ToolContext } from "./definition.ts";
import { HostClient } from "./host-client.ts";
import { toJson } from "./json.ts";
import { StateDraft } from "./state.ts";
import { describeTools } from "./tool-parameters.ts";
import type {
  AgentDescription,
  AgentHost,
  AgentRoute,
  AgentState,
  EventPayload,
  HandlerError,
  HandlerResult,
  LifecyclePayload,
  MessagePayload,
  ToolHandlerResult,
  ToolPayload,
} from "./wire.ts";

/** A Worker, as the host loads it: an agent handles requests to the paths of `agentRoutes`. */
export interface AgentWorker {
  fetch(request: Request, env: { HOST: AgentHost }): Promise<Response>;
}

type Definition = AgentDefinition<Data, Data>;

/**
 * Defines an agent. Export it as default:
 *
 * ```ts
 * export default defineAgent({
 *   async onMessage(message, ctx) {
 *     await ctx.send(await ctx.ai.generate(message.content));
 *   },
 * });
 * ```
 */
export function defineAgent<const S extends SettingsSchema = {}, State extends object = AgentState>(
  definition: AgentDefinition<S, State>,
): AgentWorker {
  checkDefinition(definition);
  return {
    async fetch(request, env) {
      const handle = handlers[new URL(request.url).pathname.slice(1) as AgentRoute];
      if (!handle || request.method !== "POST") return new Response("Not found.", { status: 404 });
      try {
        return Response.json(
          await handle(definition, (await request.json()) as never, new HostClient(env.HOST, request.signal)),
        );
      } catch (error) {
        return Response.json(describeError(error), { status: 500 });
      }
    },
  };
}

type Handler = (definition: Definition, payload: never, host: HostClient) => Promise<unknown> | object;

const handlers: Partial<Record<string, Handler>> = Object.assign(Object.create(null) as object, {
  message: handleMessage,
  tool: handleTool,
  init: handleLifecycle((definition, ctx) => definition.onInit?.(ctx)),
  shutdown: handleLifecycle((definition, ctx) => definition.onShutdown?.(ctx)),
  event: handleLifecycle((definition, ctx, { event }: EventPayload) => definition.onEvent?.(event, ctx)),
  describe: (definition: Definition) => describeAgent(definition),
} satisfies Record<AgentRoute, Handler>);

async function handleMessage(
  definition: Definition,
  payload: MessagePayload,
  host: HostClient,
): Promise<HandlerResult> {
  const state = openState(definition, payload);
  const { ctx, finish } = createMessageContext(payload, host, state);
  try {
    await definition.onMessage(ctx.message, ctx);
    await finish();
  } catch (error) {
    // What it said before it failed still arrives; its own error is the one that counts.
    await finish().catch(() => {});
    throw error;
  } finally {
    await host.settle();
  }
  return { state: state.changes };
}

async function handleTool(definition: Definition, payload: ToolPayload, host: HostClient): Promise<ToolHandlerResult> {
  const { tool, input, caller } = payload;
  const provider = Object.hasOwn(definition.tools ?? {}, tool) ? definition.tools?.[tool] : undefined;
  if (!provider) throw new Error(`The agent provides no tool “${tool}”.`);
  const state = openState(definition, payload);
  const ctx = Object.defineProperty(createLifecycleContext(payload, host, state), "caller", {
    value: caller,
    enumerable: true,
  }) as ToolContext<Data, Data>;
  try {
    const returned: unknown = await provider.execute(input, ctx);
    const output = returned === undefined ? {} : { output: toJson(returned, `The result of ${tool}`) };
    return { state: state.changes, ...output };
  } finally {
    await host.settle();
  }
}

function handleLifecycle<P extends LifecyclePayload>(
  run: (definition: Definition, ctx: ReturnType<typeof createLifecycleContext>, payload: P) => unknown,
) {
  return async (definition: Definition, payload: P, host: HostClient): Promise<HandlerResult> => {
    const state = openState(definition, payload);
    try {
      await run(definition, createLifecycleContext(payload, host, state), payload);
    } finally {
      await host.settle();
    }
    return { state: state.changes };
  };
}

function openState(definition: Definition, { state }: LifecyclePayload): StateDraft {
  return new StateDraft(toJson(definition.state ?? {}, "The initial state") as AgentState, state);
}

function describeAgent(definition: Definition): AgentDescription {
  const { settings, history = {}, batch = false, concurrency = 1, state = {} } = definition;
  return {
    ...(settings ? { settings } : {}),
    tools: describeTools(definition),
    handles: {
      init: definition.onInit !== undefined,
      shutdown: definition.onShutdown !== undefined,
      event: definition.onEvent !== undefined,
    },
    history,
    batch,
    concurrency,
    initialState: toJson(state, "The initial state") as AgentState,
  };
}

/** Fails when the module is loaded, and not only with the first message. */
function checkDefinition(definition: Definition): void {
  if (typeof definition?.onMessage !== "function")
    throw new TypeError("defineAgent needs onMessage: defineAgent({ async onMessage(message, ctx) { … } })");
  const { concurrency = 1, history = {}, tools = {} } = definition;
  if (!(Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= 16))
    throw new RangeError(`concurrency must be a whole number from 1 to 16, not ${String(concurrency)}.`);
  for (const [name, value] of Object.entries(history)) {
    if (!(Number.isInteger(value) && (value as number) >= 0))
      throw new RangeError(`history.${name} must be a whole number, not ${String(value)}.`);
  }
  for (const [name, tool] of Object.entries(tools)) {
    if (typeof tool?.execute !== "function" || typeof tool.description !== "string")
      throw new TypeError(`The tool “${name}” needs a description and an execute function.`);
  }
}

function describeError(error: unknown): HandlerError {
  if (!(error instanceof Error)) return { error: { name: "Error", message: String(error) } };
  const { name, message, stack } = error;
  return { error: { name, message, ...(stack ? { stack } : {}) } };
}
