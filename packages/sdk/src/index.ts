/** The outside of Thinkery as schemas and types. Safe in Workers, Node and the browser. */
export * from "./protocol/agency.ts";
export * from "./protocol/agent.ts";
export * from "./protocol/blueprint.ts";
export * from "./protocol/defaults.ts";
export * from "./protocol/endpoint.ts";
export * from "./protocol/endpoints.ts";
export * from "./protocol/error-body.ts";
export * from "./protocol/errors.ts";
export * from "./protocol/health.ts";
export * from "./protocol/names.ts";
export * from "./protocol/nearest.ts";
export * from "./protocol/page.ts";
export * from "./protocol/routes.ts";
export * from "./protocol/token.ts";
