import type { z } from "zod";
import type { Scope } from "./choices.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Who may call: anybody, anybody with a token, or a token that has this scope. */
export type Access = "public" | "any" | Scope;

type AnyObject = z.ZodObject | z.ZodPipe;

type Status = 101 | 200 | 201 | 202 | 204;

/**
 * One route of the outside, as data. The Worker binds a handler to it, the client calls it, and the OpenAPI
 * description is made from it, so the three cannot drift apart.
 */
export interface Endpoint<
  Params extends AnyObject | undefined = AnyObject | undefined,
  Query extends AnyObject | undefined = AnyObject | undefined,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
  Answer extends z.ZodType | undefined = z.ZodType | undefined,
> {
  method: Method;
  /** `/agency/:agency/agents`; a `*path` at the end is all the rest, slashes included. */
  path: string;
  access: Access;
  summary: string;
  params?: Params;
  query?: Query;
  body?: Body;
  /** Does it take a body of whatever kind, as bytes? */
  rawBody?: boolean;
  /** How many bytes a body may have, where that is not a mebibyte. */
  maxBodyBytes?: number;
  /** The status of a success and its body; 101 opens a socket. */
  status: Status;
  response?: Answer;
  /** What else than JSON a success may be. */
  mediaTypes?: readonly string[];
}

export function defineEndpoint<
  Params extends AnyObject | undefined = undefined,
  Query extends AnyObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
  Answer extends z.ZodType | undefined = undefined,
>(
  definition: Omit<Endpoint<Params, Query, Body, Answer>, "status"> & { status?: Status },
): Endpoint<Params, Query, Body, Answer> {
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
