import type { AgentDouble } from "./agent-double.ts";
import { blank, type Conversation, type Frame } from "./conversation.ts";
import { recalled } from "./reduce.ts";
import { receive } from "./receive.ts";

/** A page that follows the agent, over any number of connections. */
export class Reader {
  now: Conversation = blank;
  after: number | undefined;
  connected = false;
  leave = () => {};

  constructor(readonly agent: AgentDouble) {
    this.connect();
  }

  connect(): void {
    this.leave();
    this.connected = true;
    const isNew = this.after === undefined;
    const leave = this.agent.connect(this.after, (frame) => this.hear(frame));
    if (isNew) this.now = recalled(this.now, this.agent.events);
    this.leave = () => {
      leave();
      this.connected = false;
    };
  }

  hear(frame: Frame): void {
    if ("seq" in frame) this.after = frame.seq;
    else if (frame.type === "sync") this.after = frame.last;
    this.now = receive(this.now, frame);
  }
}

/** So many questions, each answered. */
export function turns(agent: AgentDouble, count: number, from = 0): void {
  for (let turn = from; turn < from + count; turn++) {
    agent.say(`q${turn}`, `question ${turn}`, "queue");
    agent.startStep();
    agent.stream(`answer ${turn}`, "");
    agent.finishStep([]);
  }
}
