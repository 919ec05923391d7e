import { endpoints } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";

let host: HostProcess;
let description: any;

beforeAll(async () => {
  host = await startHostProcess();
  description = await host.client.call("openapi");
});

afterAll(() => host?.stop());

test("the description has every endpoint with its scope and its responses", () => {
  for (const [name, { method, path, access, status }] of Object.entries(endpoints)) {
    const operation = description.paths[path.replace(/[:*]([a-z]+)/g, "{$1}")]?.[method.toLowerCase()];
    expect(operation).toMatchObject({ operationId: name });
    expect(operation.responses[status]).toBeDefined();
    expect(operation.responses.default.content["application/json"].schema).toEqual({
      $ref: "#/components/schemas/Error",
    });
    if (access === "public") expect(operation.security).toEqual([]);
    else expect(operation["x-scope"]).toBe(access);
  }
});

test("streams, sockets, blobs and optional bodies are described as such", () => {
  const at = "/agency/{agency}/agent/{agent}";
  const getResponse = (path: string, method: string, status = 200) => description.paths[path][method].responses[status];
  expect(Object.keys(getResponse(`${at}/events`, "get").content)).toEqual(["application/json", "text/event-stream"]);
  expect(Object.keys(getResponse("/run", "post").content)).toEqual(["text/event-stream"]);
  expect(Object.keys(getResponse(`${at}/blobs/{hash}`, "get").content)).toEqual(["application/octet-stream"]);
  expect(Object.keys(getResponse(`${at}/files/{path}`, "get").content)).toEqual(["*/*"]);
  expect(Object.keys(description.paths[`${at}/files/{path}`].put.requestBody.content)).toEqual(["*/*"]);
  expect(Object.keys(getResponse(`${at}/archive`, "get").content)).toEqual(["application/zip"]);
  expect(getResponse(`${at}/yjs`, "get", 101).description).toBe("WebSocket");
  expect(getResponse(`${at}/ws`, "get", 101).description).toBe("WebSocket");
  expect(Object.keys(getResponse(`${at}/app/{path}`, "post").content)).toEqual(["*/*"]);
  expect(Object.keys(description.paths[`${at}/app/{path}`].post.requestBody.content)).toEqual(["*/*"]);
  expect(description.paths[`${at}/app/{path}`].get.requestBody).toBeUndefined();
  expect(description.paths[`${at}/invoke`].post.requestBody.required).toBe(true);
  expect(description.paths[`${at}/cancel`].post.requestBody.required).toBe(false);
});

test("every reference resolves and every path parameter is declared", () => {
  const references = [...JSON.stringify(description).matchAll(/"\$ref":"([^"]+)"/g)].map(
    ([, reference]) => reference ?? "",
  );
  expect(references.length).toBeGreaterThan(10);
  for (const reference of references) {
    const target = reference
      .slice(2)
      .split("/")
      .reduce((node: any, key) => node?.[key], description);
    expect([reference, typeof target]).toEqual([reference, "object"]);
  }
  for (const [path, operations] of Object.entries<any>(description.paths)) {
    const names = [...path.matchAll(/{([a-z]+)}/g)].map(([, name]) => name);
    for (const operation of Object.values<any>(operations)) {
      const declared = operation.parameters
        .filter((parameter: any) => parameter.in === "path")
        .map((parameter: any) => parameter.name);
      expect([path, declared]).toEqual([path, names]);
    }
  }
});

test("events are described as a union by type, each with its data", () => {
  const { Event, RequestAcceptedEvent, ToolErrorEvent } = description.components.schemas;
  const at = "/agency/{agency}/agent/{agent}/events";
  const { properties } = description.paths[at].get.responses[200].content["application/json"].schema;
  expect(properties.events.items).toEqual({ $ref: "#/components/schemas/Event" });
  const { propertyName, mapping } = Event.discriminator;
  expect(propertyName).toBe("type");
  expect(Object.values(mapping)).toEqual(Event.oneOf.map((member: any) => member.$ref));
  expect(Object.keys(mapping).length).toBeGreaterThan(35);
  expect(mapping["request.accepted"]).toBe("#/components/schemas/RequestAcceptedEvent");
  for (const [type, reference] of Object.entries<string>(mapping)) {
    expect(description.components.schemas[reference.split("/").at(-1) ?? ""].properties.type.const).toBe(type);
  }
  expect(RequestAcceptedEvent.properties.data.properties.props).toMatchObject({ $ref: "#/components/schemas/Props" });
  expect(ToolErrorEvent.properties.data.required).toEqual(
    expect.arrayContaining(["runId", "callId", "error", "errorCode"]),
  );
});

test("streams and sockets are described with their events and frames", () => {
  const at = "/agency/{agency}/agent/{agent}";
  const { content } = description.paths[`${at}/events`].get.responses[200];
  expect(content["text/event-stream"].schema).toEqual({ $ref: "#/components/schemas/Event" });
  expect(description.paths["/run"].post.responses[200].content["text/event-stream"].schema).toEqual({
    $ref: "#/components/schemas/JobEvent",
  });
  const socket = description.paths[`${at}/ws`].get.responses[101];
  expect(socket["x-client-frames"]).toEqual({ $ref: "#/components/schemas/ClientFrame" });
  expect(socket["x-server-frames"]).toEqual({ $ref: "#/components/schemas/ServerFrame" });
  const { ChatFrame, ClientFrame, JobEvent } = description.components.schemas;
  const listTypes = (union: any) => union.oneOf.map((member: any) => member.properties.type.const);
  expect(listTypes(ChatFrame)).toEqual(expect.arrayContaining(["status", "text_delta", "tool_result", "task-queued"]));
  expect(listTypes(ClientFrame)).toEqual(["chat", "cancel", "approve", "answer", "ack", "actions"]);
  expect(listTypes(JobEvent)).toEqual(expect.arrayContaining(["chunk", "tool_call", "done", "error"]));
  expect(description.servers).toEqual([{ url: "/", description: expect.any(String) }]);
});

test("the description requires a token", async () => {
  expect((await fetch(`${host.url}/openapi.json`)).status).toBe(401);
});
