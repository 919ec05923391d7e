import { type Endpoint, endpoints, errorBodySchema } from "@thinkery/sdk";
import { z } from "zod";

type Json = Record<string, unknown>;

/** Creates the OpenAPI description from the schemas that validate the requests. */
export function createOpenApi(): Json {
  const schemas: Record<string, unknown> = {};
  const toSchema = (schema: z.ZodType, io: "input" | "output") => hoist(schema, io, schemas);
  const error = { description: "error", content: toContent(toSchema(errorBodySchema, "output")) };

  const paths: Record<string, Json> = {};
  for (const [name, endpoint] of Object.entries<Endpoint>(endpoints)) {
    const path = endpoint.path.replace(/[:*]([a-z]+)/g, "{$1}");
    paths[path] ??= {};
    paths[path][endpoint.method.toLowerCase()] = {
      operationId: name,
      summary: endpoint.summary,
      security: endpoint.access === "public" ? [] : [{ bearer: [] }, { secret: [] }],
      ...(endpoint.access === "public" ? {} : { "x-scope": endpoint.access }),
      parameters: [...toParameters("path", endpoint.params), ...toParameters("query", endpoint.query)],
      ...(endpoint.body ? { requestBody: toRequestBody(endpoint.body, toSchema(endpoint.body, "input")) } : {}),
      ...(endpoint.rawBody ? { requestBody: { content: { "*/*": {} } } } : {}),
      responses: {
        [endpoint.status]: {
          description: endpoint.status === 101 ? "WebSocket" : "success",
          ...toResponse(endpoint, toSchema),
        },
        "4XX": error,
        default: error,
      },
    };
  }
  return {
    openapi: "3.1.0",
    servers: [{ url: "/", description: "This host." }],
    info: {
      title: "Thinkery",
      version: "1",
      license: { name: "MIT", identifier: "MIT" },
      description: "A home for durable AI agents. `/agents…` is short for the `global` agency.",
    },
    paths,
    components: {
      schemas,
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        secret: { type: "apiKey", in: "header", name: "X-SECRET" },
      },
    },
  };
}

const toContent = (schema: Json) => ({ "application/json": { schema } });

const toRequestBody = (body: z.ZodType, schema: Json) => ({
  required: !body.safeParse(undefined).success,
  content: toContent(schema),
});

function toResponse(endpoint: Endpoint, toSchema: (schema: z.ZodType, io: "input" | "output") => Json): Json {
  const { response, mediaTypes = [], eventStream, frames } = endpoint;
  if (frames) {
    return {
      "x-client-frames": toSchema(frames.client(), "input"),
      "x-server-frames": toSchema(frames.server(), "output"),
    };
  }
  if (!response && mediaTypes.length === 0) return {};
  // As usual for event streams, the schema is that of each event's data.
  const others = mediaTypes.map((type) => [
    type,
    { schema: type === "text/event-stream" && eventStream ? toSchema(eventStream(), "output") : { type: "string" } },
  ]);
  return { content: { ...(response ? toContent(toSchema(response, "output")) : {}), ...Object.fromEntries(others) } };
}

/** Moves named schemas to `components`; zod puts them in `$defs` where they are used. */
function hoist(schema: z.ZodType, io: "input" | "output", schemas: Record<string, unknown>): Json {
  const { $schema: _, $defs, ...root } = z.toJSONSchema(schema, { io, unrepresentable: "any" }) as Json;
  const rename = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value).replaceAll('"#/$defs/', '"#/components/schemas/'));
  for (const [name, definition] of Object.entries(($defs ?? {}) as Json)) schemas[name] = rename(definition);
  const id = root.id;
  if (typeof id !== "string") return rename(root) as Json;
  schemas[id] = rename(root);
  return { $ref: `#/components/schemas/${id}` };
}

function toParameters(location: "path" | "query", schema: z.ZodType | undefined): Json[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return Object.entries(properties).map(([name, definition]) => ({
    name,
    in: location,
    required: location === "path" || required.includes(name),
    schema: definition,
  }));
}
