import type { AgentRoute } from "@thinkery/sdk/agent-host";
import { z } from "zod";
import { maxValueChars } from "./bounds.ts";

// The protocol between main and the isolate of a user agent. What comes from it is validated here.

/** The code of a user agent. */
export interface AgentCode {
  /** One ES module, whose default export is an agent. */
  code: string;
  /** JSON. */
  sourceMap?: string;
}

/** One request to an agent's code. */
export interface AgentRequest {
  route: AgentRoute;
  /** JSON. */
  payload: string;
  /**
   * `{agentId}.{codeHash}`: requests with the same id share an isolate, which stays loaded. Without it, the isolate is
   * discarded with the request. No two agents ever have the same id, not even one after the other.
   */
  isolateId?: string;
}

/** What an agent's code can call in main, only while its request lasts. */
export interface AgentRunHost {
  call(capability: string, input: string): Promise<string>;
  /** Returns the code, if the isolate is not loaded. */
  readCode(): Promise<AgentCode>;
  /** Sends what the code wrote to the console. */
  writeConsole(text: string): Promise<void>;
  /** Resolves when the request is interrupted; rejects if main is gone. */
  untilInterrupted(): Promise<string>;
}

export const agentOutcomeSchema = z.discriminatedUnion("ok", [
  z.object({
    ok: z.literal(true),
    status: z.int().min(200).max(599),
    /** JSON, or empty. */
    body: z.string().max(maxValueChars),
  }),
  z.object({
    ok: z.literal(false),
    /** `load`: the module cannot be loaded; `syntax`: it cannot even be parsed. */
    kind: z.enum(["syntax", "load", "threw", "limit"]),
    /** For the author of the code. */
    message: z.string().max(20_000),
  }),
]);

export type AgentOutcome = z.infer<typeof agentOutcomeSchema>;
