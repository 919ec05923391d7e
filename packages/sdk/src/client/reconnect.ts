import { Pauses } from "./pauses.ts";

/** Why a connection ended: the socket's close code, or the HTTP status that refused it (where the platform tells). */
export interface Ended {
  code: number;
  reason: string;
  status?: number;
}

export interface ReconnectOptions {
  connect(): WebSocket;
  onOpen(): void;
  onMessage(data: unknown): void;
  /** The answer says whether another connection is worth trying. */
  onEnded(ended: Ended): "again" | "final";
  /** So long a connection may take to open, in milliseconds. */
  connectLimit?: number;
}

const usualLimit = 10_000;

/** A socket that is opened again whenever it is lost, with longer and longer pauses. */
export class Reconnecting {
  private socket: WebSocket | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly pauses = new Pauses();
  private stopped = false;
  private readonly options: ReconnectOptions;

  constructor(options: ReconnectOptions) {
    this.options = options;
    this.open();
  }

  /** False when there is no connection just now. */
  send(text: string): boolean {
    if (this.socket?.readyState !== 1) return false;
    this.socket.send(text);
    return true;
  }

  close(): void {
    this.stopped = true;
    clearTimeout(this.timer);
    this.socket?.close();
  }

  private open(): void {
    const socket = this.options.connect();
    let status: number | undefined;
    this.socket = socket;
    // A server that is killed while we connect may leave us waiting for ever.
    this.timer = setTimeout(() => socket.close(), this.options.connectLimit ?? usualLimit);
    socket.addEventListener("open", () => {
      clearTimeout(this.timer);
      if (!this.stopped) this.options.onOpen();
    });
    socket.addEventListener("message", ({ data }) => {
      if (this.stopped) return;
      // Not at the opening already: a server that lets us in only to throw us out is given longer pauses too.
      this.pauses.reset();
      this.options.onMessage(data);
    });
    // A close follows; but where nobody listens for errors, Node ends the process over one.
    socket.addEventListener("error", (event) => {
      status = refusalIn(event);
    });
    socket.addEventListener("close", ({ code, reason }) => {
      clearTimeout(this.timer);
      if (this.stopped) return;
      const next = this.options.onEnded({ code, reason, ...(status === undefined ? {} : { status }) });
      if (next === "final" || this.stopped) {
        this.stopped = true;
        return;
      }
      this.timer = setTimeout(() => this.open(), this.pauses.next());
    });
  }
}

// Browsers keep the status of a refused upgrade to themselves; the `ws` package has it in the error's message.
function refusalIn(event: Event): number | undefined {
  const { message } = event as { message?: unknown };
  const [, status] = /Unexpected server response: (\d{3})/.exec(typeof message === "string" ? message : "") ?? [];
  return status === undefined ? undefined : Number(status);
}
