import type { z } from "zod";
import type { Scope } from "./choices.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Who may call an endpoint: anyone, anyone with a token, tokens with this scope, or the owner's with `admin`. */
export type Access = "public" | "any" | Scope | "owner";

type AnyObject = z.ZodObject | z.ZodPipe;

type Status = 101 | 200 | 201 | 202 | 204;

/**
 * An endpoint of the HTTP API, as data. The Worker binds a handler to it, the client calls it, and the OpenAPI document
 * is generated from it, so the three cannot drift apart.
 */
export interface Endpoint<
  Params extends AnyObject | undefined = AnyObject | undefined,
  Query extends AnyObject | undefined = AnyObject | undefined,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
  Response extends z.ZodType | undefined = z.ZodType | undefined,
> {
  method: Method;
  /** For example `/agency/:agency/agents`. A `*path` at the end matches the rest, including slashes. */
  path: string;
  access: Access;
  /** Whether it is only for the owner of the agency that its path names, whatever scopes a member has. */
  excludesMembers?: boolean;
  summary: string;
  params?: Params;
  query?: Query;
  body?: Body;
  /** Whether it accepts a body of any media type, as bytes. */
  rawBody?: boolean;
  /** Maximum size of the body. Defaults to one mebibyte. */
  maxBodyBytes?: number;
  /** The status of a successful response; 101 opens a WebSocket. */
  status: Status;
  response?: Response;
  /** Media types of successful responses other than JSON. */
  mediaTypes?: readonly string[];
  /** Builds the schema of the events in a `text/event-stream` response. */
  eventStream?: () => z.ZodType;
  /** Builds the schemas of the frames of a WebSocket. */
  frames?: { client: () => z.ZodType; server: () => z.ZodType };
}

export function defineEndpoint<
  Params extends AnyObject | undefined = undefined,
  Query extends AnyObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
  Response extends z.ZodType | undefined = undefined,
>(
  definition: Omit<Endpoint<Params, Query, Body, Response>, "status"> & { status?: Status },
): Endpoint<Params, Query, Body, Response> {
  return { status: 200, ...definition };
}

type In<T> = [T] extends [never] ? undefined : T extends z.ZodType ? z.input<T> : undefined;
type Out<T> = [T] extends [never] ? undefined : T extends z.ZodType ? z.output<T> : undefined;
type Part<E, Key extends "params" | "query" | "body" | "response"> = E extends Endpoint ? NonNullable<E[Key]> : never;

export type ParamsOf<E> = Out<Part<E, "params">>;
export type QueryOf<E> = Out<Part<E, "query">>;
export type BodyOf<E> = Out<Part<E, "body">>;
export type ResponseOf<E> = Out<Part<E, "response">>;

export type ParamsIn<E> = In<Part<E, "params">>;
export type QueryIn<E> = In<Part<E, "query">>;
export type BodyIn<E> = In<Part<E, "body">>;
