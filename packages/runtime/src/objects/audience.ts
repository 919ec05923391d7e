import type { AgentEvent, ChatFrame } from "@thinkery/sdk";
import type { AgentStore } from "../store/agent-store.ts";
import type { Recorded } from "../store/log.ts";
import { chatFrames } from "./chat-frames.ts";
import type { Listener } from "../turn/loop/recorder.ts";

/** Words are gathered this long before they go out: every frame costs, for every client. */
const gatherMs = 20;

/** One thing to tell, with its text made at most once. */
export type News = { event: AgentEvent; frame?: undefined; text: string } | { frame: ChatFrame; event?: undefined; text: string };

/** Somebody who listens: a socket or a stream. */
export interface Ear {
  /** Does it want to hear of every action as it is logged? */
  readonly wantsActions?: boolean;
  hear(news: readonly News[]): void;
}

type Heard = { event: AgentEvent; text: string } | { frame: ChatFrame };

/** Everybody who listens to one agent. */
export class Audience implements Listener {
  readonly #store: AgentStore;
  readonly #onTold: () => void;
  readonly #ears = new Set<Ear>();
  #heard: Heard[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(store: AgentStore, onTold: () => void) {
    this.#store = store;
    this.#onTold = onTold;
  }

  /** What was gathered so far is told first: a newcomer starts from what is stored, and hears what comes after. */
  join(ear: Ear): void {
    this.tell();
    this.#ears.add(ear);
  }

  leave(ear: Ear): void {
    this.#ears.delete(ear);
  }

  recorded(events: readonly Recorded[]): void {
    let over = false;
    for (const recorded of events) {
      const { event } = recorded;
      over ||= event.type === "agent.completed" || event.type === "agent.error" || event.type === "run.canceled";
      if (this.#ears.size === 0) continue;
      this.#heard.push(recorded);
      for (const frame of chatFrames(event, this.#store)) this.#heard.push({ frame });
      if (event.type === "tool.output" || event.type === "tool.error") this.#addAction();
    }
    if (over) this.tell();
    else if (this.#heard.length > 0) this.#soon();
  }

  said(messageId: string, text: string, reasoning: string): void {
    if (this.#ears.size === 0) return;
    if (reasoning) this.#add({ type: "reasoning", content: reasoning, messageId });
    if (text) this.#add({ type: "text_delta", delta: text, messageId });
    this.#soon();
  }

  showed(runId: string, callId: string, text: string): void {
    if (this.#ears.size === 0 || !text) return;
    const last = this.#heard.at(-1);
    const isSame = last && "frame" in last && last.frame.type === "tool_progress" && last.frame.callId === callId;
    if (isSame && last.frame.type === "tool_progress") last.frame.text += text;
    else this.#heard.push({ frame: { type: "tool_progress", callId, text, runId } });
    this.#soon();
  }

  tell(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = undefined;
    const heard = this.#heard;
    this.#heard = [];
    if (heard.length > 0 && this.#ears.size > 0) {
      const news = heard.map((item): News => ("event" in item ? item : { frame: item.frame, text: JSON.stringify(item.frame) }));
      for (const ear of this.#ears) ear.hear(news);
    }
    this.#onTold();
  }

  #addAction(): void {
    const action = [...this.#ears].some(({ wantsActions }) => wantsActions) ? this.#store.actions.latest() : undefined;
    if (action) this.#heard.push({ frame: { type: "action", action } });
  }

  // Words that follow words of the same message go out as one frame.
  #add(frame: Extract<ChatFrame, { type: "text_delta" | "reasoning" }>): void {
    const last = this.#heard.at(-1);
    if (last && "frame" in last && last.frame.type === frame.type && last.frame.messageId === frame.messageId) {
      if (last.frame.type === "text_delta" && frame.type === "text_delta") last.frame.delta += frame.delta;
      else if (last.frame.type === "reasoning" && frame.type === "reasoning") last.frame.content += frame.content;
    } else {
      this.#heard.push({ frame: { ...frame } });
    }
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => this.tell(), gatherMs);
  }
}
