import { Backoff } from "./backoff.ts";

/** Why a connection ended: the socket's close code, or the HTTP status that refused it (where the platform tells). */
export interface ConnectionEnd {
  code: number;
  reason: string;
  status?: number;
}

export interface ReconnectOptions {
  connect(): WebSocket;
  onOpen(): void;
  onMessage(data: unknown): void;
  /** The answer says whether another connection is worth trying. */
  onEnded(ended: ConnectionEnd): "again" | "final";
  /** So long a connection may take to open, in milliseconds. */
  connectTimeoutMs?: number;
}

const defaultConnectTimeoutMs = 10_000;

/** A socket that is opened again whenever it is lost, with longer and longer pauses. */
export class ReconnectingSocket {
  private socket: WebSocket | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly backoff = new Backoff();
  private isStopped = false;
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
    this.isStopped = true;
    clearTimeout(this.timer);
    this.socket?.close();
  }

  private open(): void {
    const socket = this.options.connect();
    let status: number | undefined;
    this.socket = socket;
    // A server that is killed while we connect may leave us waiting for ever.
    this.timer = setTimeout(() => socket.close(), this.options.connectTimeoutMs ?? defaultConnectTimeoutMs);
    socket.addEventListener("open", () => {
      clearTimeout(this.timer);
      if (!this.isStopped) this.options.onOpen();
    });
    socket.addEventListener("message", ({ data }) => {
      if (this.isStopped) return;
      // Not at the opening already: a server that lets us in only to throw us out is given longer pauses too.
      this.backoff.reset();
      this.options.onMessage(data);
    });
    // A close follows; but where nobody listens for errors, Node ends the process over one.
    socket.addEventListener("error", (event) => {
      status = parseRefusedStatus(event);
    });
    socket.addEventListener("close", ({ code, reason }) => {
      clearTimeout(this.timer);
      if (this.isStopped) return;
      const next = this.options.onEnded({ code, reason, ...(status === undefined ? {} : { status }) });
      if (next === "final" || this.isStopped) {
        this.isStopped = true;
        return;
      }
      this.timer = setTimeout(() => this.open(), this.backoff.next());
    });
  }
}

// Browsers keep the status of a refused upgrade to themselves; the `ws` package has it in the error's message.
function parseRefusedStatus(event: Event): number | undefined {
  const { message } = event as { message?: unknown };
  const [, status] = /Unexpected server response: (\d{3})/.exec(typeof message === "string" ? message : "") ?? [];
  return status === undefined ? undefined : Number(status);
}
