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
  start(modelBase: string, model: string): Promise<Running>;
}

export interface Running {
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
export class Sockets {
  #dial: Dial;
  #open = new Map<string, Promise<Talk>>();

  constructor(dial: Dial) {
    this.#dial = dial;
  }

  async turn(agent: string): Promise<void> {
    let talk = this.#open.get(agent);
    if (!talk) this.#open.set(agent, (talk = Talk.open(this.#dial(agent))));
    await (await talk).turn();
  }

  async close(): Promise<void> {
    for (const talk of await Promise.all(this.#open.values())) talk.close();
    this.#open.clear();
  }
}

/** A host cuts off whoever never says that it has read. */
const ackEvery = 256 * 1024;

/** One socket to one agent. A turn is over when the agent says that it is idle again. */
export class Talk {
  #socket: WebSocket;
  #see: (frame: Frame) => void;
  #complete = false;
  #unread = 0;
  #over: { resolve(): void; reject(error: Error): void } | undefined;

  private constructor(socket: WebSocket, see: (frame: Frame) => void) {
    this.#socket = socket;
    this.#see = see;
    socket.on("message", (data: Buffer) => {
      this.#unread += data.length;
      if (this.#unread > ackEvery) {
        this.#unread = 0;
        socket.send('{"type":"ack"}');
      }
      this.#take(JSON.parse(data.toString()) as Frame);
    });
    socket.on("close", (code, reason) => this.#over?.reject(new Error(`the socket was closed: ${code} ${reason}`)));
    socket.on("error", (error) => this.#over?.reject(error));
  }

  /** `see` is shown every frame that arrives, batches taken apart. */
  static async open({ url, headers }: ReturnType<Dial>, see: (frame: Frame) => void = () => {}): Promise<Talk> {
    const socket = new WebSocket(url, { headers, perMessageDeflate: false });
    const talk = new Talk(socket, see);
    await once(socket, "open");
    return talk;
  }

  turn(content = "Please note what there is to do."): Promise<void> {
    this.#complete = false;
    const over = new Promise<void>((resolve, reject) => (this.#over = { resolve, reject }));
    this.#socket.send(JSON.stringify({ type: "chat", id: randomUUID(), content }));
    return over;
  }

  close(): void {
    this.#over = undefined;
    this.#socket.terminate();
  }

  #take(frame: Frame): void {
    if (frame.type === "batch") {
      for (const inner of frame.frames ?? []) this.#take(inner);
      return;
    }
    this.#see(frame);
    if (frame.type === "message-complete") this.#complete = true;
    else if (frame.type === "error" || frame.type === "task-failed") this.#over?.reject(new Error(JSON.stringify(frame)));
    else if (frame.type === "status" && frame.status === "idle" && this.#complete) this.#over?.resolve();
  }
}
