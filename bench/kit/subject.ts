import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { WebSocket } from "ws";

/** Something that takes turns: ours, the ground it is measured against, or a peer. */
export interface Subject {
  name: string;
  /** Whether what it was told and what it answered outlive its process. */
  durable: boolean;
  /** Why it cannot run here, if it cannot. */
  absent?(): string | undefined;
  start(modelBase: string, model: string): Promise<RunningSubject>;
}

export interface RunningSubject {
  /** One user message, one tool call, the final text. The same name is the same agent, which remembers. */
  turn(agent: string): Promise<void>;
  /** The processes that do the work; their children count too. */
  pids(): number[];
  stop(): Promise<void>;
}

export interface Frame {
  type: string;
  status?: string;
  delta?: string;
  frames?: Frame[];
}

export type Dial = (agent: string) => { url: string; headers?: Record<string, string> };

/** Talks to agents over one socket each. */
export class SocketPool {
  #dial: Dial;
  #open = new Map<string, Promise<AgentSocket>>();

  constructor(dial: Dial) {
    this.#dial = dial;
  }

  async runTurn(agent: string): Promise<void> {
    let agentSocket = this.#open.get(agent);
    if (!agentSocket) this.#open.set(agent, (agentSocket = AgentSocket.open(this.#dial(agent))));
    await (await agentSocket).runTurn();
  }

  async close(): Promise<void> {
    for (const agentSocket of await Promise.all(this.#open.values())) agentSocket.close();
    this.#open.clear();
  }
}

/** A host cuts off whoever never says that it has read. */
const ackIntervalBytes = 256 * 1024;

/** One socket to one agent. A turn is over when the agent says that it is idle again. */
export class AgentSocket {
  #socket: WebSocket;
  #onFrame: (frame: Frame) => void;
  #isComplete = false;
  #unread = 0;
  #pendingTurn: { resolve(): void; reject(error: Error): void } | undefined;

  private constructor(socket: WebSocket, see: (frame: Frame) => void) {
    this.#socket = socket;
    this.#onFrame = see;
    socket.on("message", (data: Buffer) => {
      this.#unread += data.length;
      if (this.#unread > ackIntervalBytes) {
        this.#unread = 0;
        socket.send('{"type":"ack"}');
      }
      this.#handle(JSON.parse(data.toString()) as Frame);
    });
    socket.on("close", (code, reason) =>
      this.#pendingTurn?.reject(new Error(`the socket was closed: ${code} ${reason}`)),
    );
    socket.on("error", (error) => this.#pendingTurn?.reject(error));
  }

  /** `see` is shown every frame that arrives, batches taken apart. */
  static async open({ url, headers }: ReturnType<Dial>, see: (frame: Frame) => void = () => {}): Promise<AgentSocket> {
    const socket = new WebSocket(url, { headers, perMessageDeflate: false });
    const agentSocket = new AgentSocket(socket, see);
    await once(socket, "open");
    return agentSocket;
  }

  runTurn(content = "Please note what there is to do."): Promise<void> {
    this.#isComplete = false;
    const ended = new Promise<void>((resolve, reject) => (this.#pendingTurn = { resolve, reject }));
    this.#socket.send(JSON.stringify({ type: "chat", id: randomUUID(), content }));
    return ended;
  }

  close(): void {
    this.#pendingTurn = undefined;
    this.#socket.terminate();
  }

  #handle(frame: Frame): void {
    if (frame.type === "batch") {
      for (const inner of frame.frames ?? []) this.#handle(inner);
      return;
    }
    this.#onFrame(frame);
    if (frame.type === "message-complete") this.#isComplete = true;
    else if (frame.type === "error" || frame.type === "task-failed")
      this.#pendingTurn?.reject(new Error(JSON.stringify(frame)));
    else if (frame.type === "status" && frame.status === "idle" && this.#isComplete) this.#pendingTurn?.resolve();
  }
}
