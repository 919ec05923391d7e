import type { SubagentFrame } from "@thinkery/sdk";

interface FrameRelayOptions {
  /** Minimum time between two batches. */
  throttleMs: number;
  /** Passes frames to the parent. Returns whether anyone listens to them. */
  send(frames: SubagentFrame[]): Promise<{ hasListeners: boolean }>;
  waitUntil(work: Promise<unknown>): void;
}

/** How long nothing is sent after a batch that nobody listened to. */
const pauseMs = 250;
/** A parent that does not take the frames misses some, and memory stays bounded. */
const maxPendingChars = 1_000_000;

/** Sends frames in batches, one at a time. Whoever adds them never waits; frames that nobody listens to are dropped. */
export class FrameRelay {
  readonly #options: FrameRelayOptions;
  #pending: SubagentFrame[] = [];
  #pendingChars = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sending: Promise<void> | undefined;
  #lastSentAt = 0;
  #pausedUntil = 0;

  constructor(options: FrameRelayOptions) {
    this.#options = options;
  }

  /** Whether someone may listen. Asked again after a pause. */
  get isOpen(): boolean {
    return Date.now() >= this.#pausedUntil;
  }

  add(frame: SubagentFrame): void {
    if (!this.isOpen) return;
    const chars = measureFrame(frame);
    // A single frame larger than the limit must still get through.
    if (this.#pendingChars > 0 && this.#pendingChars + chars > maxPendingChars) return;
    this.#pendingChars += chars;
    const last = this.#pending.at(-1);
    if (last?.type === "subagent_text_delta" && frame.type === "subagent_text_delta" && last.taskId === frame.taskId)
      last.delta += frame.delta;
    else this.#pending.push({ ...frame });
    this.#schedule();
  }

  /** Resolves when everything that was added has been sent. */
  async flush(): Promise<void> {
    await this.#sending;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#pending.length > 0) await this.#startSending();
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#sending) return;
    const waitMs = this.#lastSentAt + this.#options.throttleMs - Date.now();
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#options.waitUntil(this.#startSending());
      },
      Math.max(0, waitMs),
    );
  }

  #startSending(): Promise<void> {
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
      if (this.#pending.length > 0) this.#schedule();
    });
    return this.#sending;
  }

  async #send(): Promise<void> {
    this.#lastSentAt = Date.now();
    // Frames only show what the log has anyway, so a batch that is lost is not sent again.
    const { hasListeners } = await this.#options.send(this.#take()).catch(() => ({ hasListeners: false }));
    if (hasListeners) return;
    this.#pausedUntil = Date.now() + pauseMs;
    this.#take();
  }

  #take(): SubagentFrame[] {
    const frames = this.#pending;
    this.#pending = [];
    this.#pendingChars = 0;
    return frames;
  }
}

function measureFrame(frame: SubagentFrame): number {
  return frame.type === "subagent_text_delta" ? frame.delta.length : JSON.stringify(frame).length;
}
