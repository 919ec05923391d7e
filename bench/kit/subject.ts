import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { WebSocket } from "ws";

/** Something that runs turns: our host, the baseline, or a peer. */
export interface Subject {
  name: string;
  /** Whether messages and answers survive a crash of its process. */
  durable: boolean;
  /** Returns why it cannot run on this machine, if so. */
  absent?(): string | undefined;
  start(modelBase: string, model: string): Promise<RunningSubject>;
}

export interface RunningSubject {
  /**
   * Runs a turn: one user message, one tool call, the final text. The same name is the same agent, with its history.
   */
  turn(agent: string): Promise<void>;
  /** The processes that do the work; their descendants count too. */
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

/** Runs turns over one socket per agent. */
export class SocketPool {
  #dial: Dial;
  #open = new Map<string, Promise<AgentSocket>>();

  constructor(dial: Dial) {
    this.#dial = dial;
  }

  async runTurn(agent: string, content?: string): Promise<void> {
    let agentSocket = this.#open.get(agent);
    if (!agentSocket) this.#open.set(agent, (agentSocket = AgentSocket.open(this.#dial(agent))));
    await (await agentSocket).runTurn(content);
  }

  async close(): Promise<void> {
    for (const agentSocket of await Promise.all(this.#open.values())) agentSocket.close();
    this.#open.clear();
  }
}

/** A host disconnects clients that do not acknowledge what they have read. */
const ackIntervalBytes = 256 * 1024;

/** A socket to one agent. A turn ends when the agent reports that it is idle again. */
export class AgentSocket {
  #socket: WebSocket;
  #onFrame: (frame: Frame) => void;
  #isComplete = false;
  #unread = 0;
  #pendingTurn: { resolve(): void; reject(error: Error): void } | undefined;

  private constructor(socket: WebSocket, onFrame: (frame: Frame) => void) {
    this.#socket = socket;
    this.#onFrame = onFrame;
    socket.on("message", (data: Buffer) => {
      this.#unread += data.length;
      if (this.#unread > ackIntervalBytes) {
        this.#unread = 0;
        socket.send('{"type":"ack"}');
      }
      this.#handle(JSON.parse(data.toString()) as Frame);
    });
    socket.on("close", (code, reason) => this.#pendingTurn?.reject(new Error(`socket closed: ${code} ${reason}`)));
    socket.on("error", (error) => this.#pendingTurn?.reject(error));
  }

  /** `onFrame` is called with every frame, including those inside batches. */
  static async open(
    { url, headers }: ReturnType<Dial>,
    onFrame: (frame: Frame) => void = () => {},
  ): Promise<AgentSocket> {
    const socket = new WebSocket(url, { headers, perMessageDeflate: false });
    const agentSocket = new AgentSocket(socket, onFrame);
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
