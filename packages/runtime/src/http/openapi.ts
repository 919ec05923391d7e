import { type Endpoint, endpoints, errorBodySchema } from "@thinkery/sdk";
import { z } from "zod";

type Json = Record<string, unknown>;

/** The description of the outside, made from the very schemas that check it. */
export function createOpenApi(): Json {
  const schemas: Record<string, unknown> = {};
  const toSchema = (schema: z.ZodType, io: "input" | "output") => hoist(schema, io, schemas);
  const error = { description: "refused", content: toContent(toSchema(errorBodySchema, "output")) };

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
          description: endpoint.status === 101 ? "a WebSocket" : "done",
          ...toResponse(endpoint, endpoint.response && toSchema(endpoint.response, "output")),
        },
        default: error,
      },
    };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Thinkery",
      version: "1",
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

function toResponse({ mediaTypes: media = [] }: Endpoint, schema: Json | undefined): Json {
  if (!schema && media.length === 0) return {};
  const others = media.map((type) => [type, { schema: { type: "string" } }]);
  return { content: { ...(schema ? toContent(schema) : {}), ...Object.fromEntries(others) } };
}

/** Named schemas move to components; zod leaves them in `$defs` next to where they are used. */
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

function toParameters(where: "path" | "query", schema: z.ZodType | undefined): Json[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return Object.entries(properties).map(([name, definition]) => ({
    name,
    in: where,
    required: where === "path" || required.includes(name),
    schema: definition,
  }));
}
