/** An answer of a model, whatever the format it is written in. */
export interface Answer {
  /** Each string is a delta. */
  reasoning?: string | string[];
  text?: string | string[];
  /** A string as input is sent as it is, however malformed. */
  toolCalls?: { id?: string; name: string; input: unknown }[];
  usage?: { input?: number; output?: number; cached?: number; reasoning?: number };
  finish?: "stop" | "tool-calls" | "length" | "content";
  fault?: Fault;
  /** Between deltas. */
  delayMs?: number;
  /** Cuts the stream into chunks of so many bytes, through the middle of characters. */
  chunkBytes?: number;
  /** Not streamed: one JSON value, as servers send that ignore what they are asked for. */
  whole?: boolean;
}

export type Phase = "before" | "first" | "text" | "tool" | "end";

export type Fault =
  | {
      kind: "status";
      status: number;
      code?: string;
      type?: string;
      message?: string;
      retryAfter?: string | number;
      location?: string;
      body?: string;
    }
  /** The socket is destroyed; the body ends cleanly, but too early; silence until `release()`. */
  | { kind: "cut" | "end" | "malformed" | "stall"; phase: Phase }
  | { kind: "slow"; phase: Phase; ms: number }
  /** The provider's own error, inside the stream. */
  | { kind: "error-event"; phase: Phase; code?: string; message?: string };

/** One event of a stream. Its kind says where in the answer it stands. */
export interface Frame {
  kind: "open" | "reasoning" | "text" | "tool" | "close";
  data: object | "[DONE]";
}

/** One provider's way of writing. */
export interface Format {
  frames(answer: NormalizedAnswer, model: string): Frame[];
  whole(answer: NormalizedAnswer, model: string): object;
  /** The body of an answer that failed, and the event of one that fails in the middle. */
  failure(status: number, code: string | undefined, type: string | undefined, message: string): object;
  errorEvent(code: string | undefined, message: string): object;
  /** Whether events are named outside their data as well. */
  named: boolean;
}

/** An answer with everything filled in. */
export interface NormalizedAnswer {
  reasoning: string[];
  text: string[];
  calls: { id: string; name: string; pieces: string[] }[];
  usage: { input: number; output: number; cached: number; reasoning: number };
  finish: "stop" | "tool-calls" | "length" | "content";
}

let callCount = 0;

export function normalizeAnswer({
  reasoning = [],
  text = [],
  toolCalls = [],
  usage = {},
  finish,
}: Answer): NormalizedAnswer {
  return {
    reasoning: [reasoning].flat(),
    text: [text].flat(),
    calls: toolCalls.map(({ id, name, input }) => ({
      id: id ?? `call_${++callCount}`,
      name,
      pieces: splitInThree(typeof input === "string" ? input : JSON.stringify(input ?? {})),
    })),
    usage: {
      input: usage.input ?? 10,
      output: usage.output ?? 5,
      cached: usage.cached ?? 0,
      reasoning: usage.reasoning ?? 0,
    },
    finish: finish ?? (toolCalls.length > 0 ? "tool-calls" : "stop"),
  };
}

function splitInThree(text: string): string[] {
  const third = Math.ceil(text.length / 3);
  return [text.slice(0, third), text.slice(third, 2 * third), text.slice(2 * third)].filter((piece) => piece !== "");
}
