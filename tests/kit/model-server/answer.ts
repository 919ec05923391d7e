/** A model's answer, independent of the wire format. */
export interface Answer {
  /** Each string is a delta. */
  reasoning?: string | string[];
  text?: string | string[];
  /** A string as input is sent verbatim, even if malformed. */
  toolCalls?: { id?: string; name: string; input: unknown }[];
  usage?: { input?: number; output?: number; cached?: number; reasoning?: number };
  finish?: "stop" | "tool-calls" | "length" | "content";
  fault?: Fault;
  /** Delay between deltas. */
  delayMs?: number;
  /** Splits the stream into chunks of this size, even in the middle of characters. */
  chunkBytes?: number;
  /** Sends one JSON value instead of a stream, as servers do that ignore `stream: true`. */
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
  /** `cut` destroys the socket, `end` closes the body early but cleanly, `stall` pauses until `release()`. */
  | { kind: "cut" | "end" | "malformed" | "stall"; phase: Phase }
  | { kind: "slow"; phase: Phase; ms: number }
  /** The provider's error event, inside the stream. */
  | { kind: "error-event"; phase: Phase; code?: string; message?: string };

/** One event of a stream. Its kind is the part of the answer it belongs to. */
export interface Frame {
  kind: "open" | "reasoning" | "text" | "tool" | "close";
  data: object | "[DONE]";
}

/** A provider's wire format. */
export interface Format {
  frames(answer: NormalizedAnswer, model: string): Frame[];
  whole(answer: NormalizedAnswer, model: string): object;
  /** The body of an error response, and the event of an error in mid-stream. */
  failure(status: number, code: string | undefined, type: string | undefined, message: string): object;
  errorEvent(code: string | undefined, message: string): object;
  /** Whether events also have an `event:` field. */
  named: boolean;
}

/** An answer with defaults filled in. */
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
