import type { SubagentFrame } from "@thinkery/sdk";
import type { SubagentLimits } from "@thinkery/sdk/internal";
import type { AgentStore } from "../../store/agent-store.ts";
import type { RecordedEvent } from "../../store/log.ts";
import type { ParentStub } from "../assignment-feature.ts";
import type { Assignment } from "./assignment.ts";
import { FrameRelay } from "./frame-relay.ts";
import { toEndFrames, toToolFrames } from "./to-subagent-frames.ts";

interface ChildStreamOptions {
  store: AgentStore;
  limits: SubagentLimits;
  /** Returns what the agent works on, until its parent has the report. */
  findAssignment(): Assignment | undefined;
  openParent(): Promise<ParentStub>;
  waitUntil(work: Promise<unknown>): void;
}

/** Shows the clients of its parent what a sub-agent does, and what those below it do, if the parent asked for it. */
export class ChildStream {
  readonly #options: ChildStreamOptions;
  /** Null if the sub-agent does not stream; undefined until that is known. */
  #stream: { taskId: string; relay: FrameRelay } | null | undefined;

  constructor(options: ChildStreamOptions) {
    this.#options = options;
  }

  onText(text: string): void {
    const stream = text === "" ? undefined : this.#open();
    stream?.relay.add({ type: "subagent_text_delta", taskId: stream.taskId, delta: text });
  }

  onRecorded(events: readonly RecordedEvent[]): void {
    const stream = this.#open();
    if (!stream) return;
    const { store, limits } = this.#options;
    for (const { event } of events) {
      if (limits.broadcastToolCalls) this.#add(toToolFrames(event, stream.taskId));
      this.#add(toEndFrames(event, store));
    }
  }

  /** Passes on frames of a sub-agent below. Returns whether someone may listen further up. */
  pass(frames: readonly SubagentFrame[]): boolean {
    this.#add(frames);
    return this.#open()?.relay.isOpen ?? false;
  }

  /** Sends everything before the report, which ends the stream. */
  async end(): Promise<void> {
    await this.#stream?.relay.flush();
    this.#stream = null;
  }

  #add(frames: readonly SubagentFrame[]): void {
    for (const frame of frames) this.#stream?.relay.add(frame);
  }

  #open(): { taskId: string; relay: FrameRelay } | null {
    if (this.#stream !== undefined) return this.#stream;
    const assignment = this.#options.findAssignment();
    // It is not registered yet.
    if (!assignment) return null;
    this.#stream = assignment.streaming ? this.#create(assignment) : null;
    return this.#stream;
  }

  #create({ taskId, token }: Assignment): { taskId: string; relay: FrameRelay } {
    const { limits, openParent, waitUntil } = this.#options;
    const relay = new FrameRelay({
      throttleMs: limits.streamThrottleMs,
      waitUntil,
      send: async (frames) => (await openParent()).relayFrames({ taskId, token }, frames),
    });
    return { taskId, relay };
  }
}
