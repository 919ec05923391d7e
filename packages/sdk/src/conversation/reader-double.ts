import type { AgentDouble } from "./agent-double.ts";
import { emptyConversation, type Conversation, type Frame } from "./conversation.ts";
import { receive } from "./receive.ts";
import { backfillEvents } from "./reduce.ts";

/** A test double of a page that follows the agent across connections. */
export class ReaderDouble {
  conversation: Conversation = emptyConversation;
  after: number | undefined;
  isConnected = false;
  disconnect = () => {};

  constructor(readonly agent: AgentDouble) {
    this.connect();
  }

  connect(): void {
    this.disconnect();
    this.isConnected = true;
    const isNew = this.after === undefined;
    const disconnect = this.agent.connect(this.after, (frame) => this.receive(frame));
    if (isNew) this.conversation = backfillEvents(this.conversation, this.agent.events);
    this.disconnect = () => {
      disconnect();
      this.isConnected = false;
    };
  }

  receive(frame: Frame): void {
    if ("seq" in frame) this.after = frame.seq;
    else if (frame.type === "sync") this.after = frame.last;
    this.conversation = receive(this.conversation, frame);
  }
}

/** Runs turns with one message and one response each. */
export function runTurns(agent: AgentDouble, count: number, from = 0): void {
  for (let turn = from; turn < from + count; turn++) {
    agent.sendMessage(`q${turn}`, `question ${turn}`, "queue");
    agent.startStep();
    agent.stream(`answer ${turn}`, "");
    agent.finishStep([]);
  }
}
