import { endpoints } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";

let house: HostProcess;
let description: any;

beforeAll(async () => {
  house = await startHostProcess();
  description = await house.client.call("openapi");
});

afterAll(() => house?.stop());

test("the description has every endpoint, with its scope and its answers", () => {
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

test("streams, sockets, blobs and bodies that may be left out are described as such", () => {
  const at = "/agency/{agency}/agent/{agent}";
  const answer = (path: string, method: string, status = 200) => description.paths[path][method].responses[status];
  expect(Object.keys(answer(`${at}/events`, "get").content)).toEqual(["application/json", "text/event-stream"]);
  expect(Object.keys(answer("/run", "post").content)).toEqual(["text/event-stream"]);
  expect(Object.keys(answer(`${at}/blobs/{hash}`, "get").content)).toEqual(["application/octet-stream"]);
  expect(Object.keys(answer(`${at}/files/{path}`, "get").content)).toEqual(["*/*"]);
  expect(Object.keys(description.paths[`${at}/files/{path}`].put.requestBody.content)).toEqual(["*/*"]);
  expect(Object.keys(answer(`${at}/archive`, "get").content)).toEqual(["application/zip"]);
  expect(answer(`${at}/yjs`, "get", 101).description).toBe("a WebSocket");
  expect(answer(`${at}/ws`, "get", 101).description).toBe("a WebSocket");
  expect(Object.keys(answer(`${at}/app/{path}`, "post").content)).toEqual(["*/*"]);
  expect(Object.keys(description.paths[`${at}/app/{path}`].post.requestBody.content)).toEqual(["*/*"]);
  expect(description.paths[`${at}/app/{path}`].get.requestBody).toBeUndefined();
  expect(description.paths[`${at}/invoke`].post.requestBody.required).toBe(true);
  expect(description.paths[`${at}/cancel`].post.requestBody.required).toBe(false);
});

test("every reference in it leads somewhere, and every path parameter is declared", () => {
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
    const named = [...path.matchAll(/{([a-z]+)}/g)].map(([, name]) => name);
    for (const operation of Object.values<any>(operations)) {
      const declared = operation.parameters.filter((one: any) => one.in === "path").map((one: any) => one.name);
      expect([path, declared]).toEqual([path, named]);
    }
  }
});

test("events are described by type, each with its data", () => {
  const { Event, RequestAcceptedEvent, ToolErrorEvent } = description.components.schemas;
  const at = "/agency/{agency}/agent/{agent}/events";
  const { properties } = description.paths[at].get.responses[200].content["application/json"].schema;
  expect(properties.events.items).toEqual({ $ref: "#/components/schemas/Event" });
  const { propertyName, mapping } = Event.discriminator;
  expect(propertyName).toBe("type");
  expect(Object.values(mapping)).toEqual(Event.oneOf.map((one: any) => one.$ref));
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

test("it is not told without a token", async () => {
  expect((await fetch(`${house.url}/openapi.json`)).status).toBe(401);
});
