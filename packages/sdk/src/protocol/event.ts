import { z } from "zod";
import { appEvents } from "./events/app.ts";
import { approvalEvents } from "./events/approval.ts";
import { continuationEvents } from "./events/continuation.ts";
import { middlewareEvents } from "./events/middleware.ts";
import { modelEvents } from "./events/model.ts";
import { notebookEvents } from "./events/notebook.ts";
import { replyEvents } from "./events/reply.ts";
import { requestEvents } from "./events/request.ts";
import { subagentEvents } from "./events/subagent.ts";
import { taskEvents } from "./events/task.ts";
import { toolEvents } from "./events/tool.ts";
import { turnEvents } from "./events/turn.ts";
import { workspaceEvents } from "./events/workspace.ts";

export type { AppFacts, StoredApp } from "./events/app.ts";
export type { ClearedUsage, SentMessage, Sender } from "./events/request.ts";
export type { ToolErrorCode } from "./events/tool.ts";
export type { PauseReason } from "./events/turn.ts";

/**
 * The data of all event types of an agent's log. The events are enough to rebuild everything else that the agent
 * stores. Schemas are functions because few processes need them: a host writes its log with the types alone, and only
 * the OpenAPI document and tests build the schemas.
 */
const dataSchemas = () => ({
  ...requestEvents(),
  ...turnEvents(),
  ...modelEvents(),
  ...toolEvents(),
  ...replyEvents(),
  ...middlewareEvents(),
  ...workspaceEvents(),
  ...notebookEvents(),
  ...appEvents(),
  ...approvalEvents(),
  ...continuationEvents(),
  ...taskEvents(),
  ...subagentEvents(),
});

const envelopeSchema = () => z.object({ seq: z.number(), ts: z.string(), threadId: z.string() });

type DataSchemas = ReturnType<typeof dataSchemas>;

export type EventData = { [T in keyof DataSchemas]: z.infer<DataSchemas[T]> };

export type EventType = keyof EventData;

/** An event that has not been appended to the log yet. */
export type NewEvent = { [T in EventType]: { type: T; data: EventData[T] } }[EventType];

export type AgentEvent = NewEvent & z.infer<ReturnType<typeof envelopeSchema>>;

let unionSchema: z.ZodType<AgentEvent> | undefined;

function getEventUnion(): z.ZodType<AgentEvent> {
  unionSchema ??= createUnion();
  return unionSchema;
}

function createUnion(): z.ZodType<AgentEvent> {
  const types = Object.entries(dataSchemas());
  const [first, ...others] = types.map(([type, data]) => createVariant(type, data));
  const mapping = Object.fromEntries(types.map(([type]) => [type, `#/components/schemas/${toSchemaName(type)}`]));
  const union = z.discriminatedUnion("type", [first!, ...others]).meta({
    id: "Event",
    description: "A numbered event in an agent's log.",
    discriminator: { propertyName: "type", mapping },
  });
  return union as unknown as z.ZodType<AgentEvent>;
}

function createVariant(type: string, data: z.ZodType) {
  return envelopeSchema()
    .extend({ type: z.literal(type), data })
    .meta({ id: toSchemaName(type), ...(data.description ? { description: data.description } : {}) });
}

/** For example, the schema of `run.started` is named `RunStartedEvent`. */
function toSchemaName(type: string): string {
  return `${type.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;
}

/** A discriminated union of all event types, built on first use. */
export const eventSchema: z.ZodType<AgentEvent> = z.lazy(getEventUnion);

export const eventListSchema = z.object({ events: z.array(eventSchema), next: z.number().optional() });

export const eventQuerySchema = z.strictObject({
  after: z.coerce.number().int().min(0).optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(200),
  progress: z.literal("1").optional().meta({
    description:
      "Streams also contain the progress of running calls and of sub-agents that stream, as `tool_progress` and `subagent_*` frames without a number.",
  }),
});

export type EventQuery = z.infer<typeof eventQuerySchema>;
