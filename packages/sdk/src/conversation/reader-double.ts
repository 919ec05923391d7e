import type { AgentDouble } from "./agent-double.ts";
import { emptyConversation, type Conversation, type Frame } from "./conversation.ts";
import { receive } from "./receive.ts";
import { recallEvents } from "./reduce.ts";

/** A page that follows the agent, over any number of connections. */
export class ReaderDouble {
  now: Conversation = emptyConversation;
  after: number | undefined;
  isConnected = false;
  leave = () => {};

  constructor(readonly agent: AgentDouble) {
    this.connect();
  }

  connect(): void {
    this.leave();
    this.isConnected = true;
    const isNew = this.after === undefined;
    const leave = this.agent.connect(this.after, (frame) => this.receive(frame));
    if (isNew) this.now = recallEvents(this.now, this.agent.events);
    this.leave = () => {
      leave();
      this.isConnected = false;
    };
  }

  receive(frame: Frame): void {
    if ("seq" in frame) this.after = frame.seq;
    else if (frame.type === "sync") this.after = frame.last;
    this.now = receive(this.now, frame);
  }
}

/** So many questions, each answered. */
export function runTurns(agent: AgentDouble, count: number, from = 0): void {
  for (let turn = from; turn < from + count; turn++) {
    agent.say(`q${turn}`, `question ${turn}`, "queue");
    agent.startStep();
    agent.stream(`answer ${turn}`, "");
    agent.finishStep([]);
  }
}
