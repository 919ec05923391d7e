import { Backoff } from "./backoff.ts";

/**
 * Why a connection ended: the close code, or the HTTP status if the upgrade was refused and the platform reveals it.
 */
export interface ConnectionEnd {
  code: number;
  reason: string;
  status?: number;
}

// 44xx are the host's own close codes for “forbidden” and “not found”. Trying again would have the same result.
export function isRefusal({ code, status = 0 }: ConnectionEnd): boolean {
  const isClientError = status >= 400 && status < 500 && status !== 408 && status !== 429;
  return isClientError || (code >= 4400 && code < 4500);
}

/** Why a connection ended, in words, if that is known. */
export function describeEnd({ reason, status }: ConnectionEnd): string | undefined {
  return reason || (status === undefined ? undefined : `The host responded with status ${status}.`);
}

export interface ReconnectOptions {
  connect(): WebSocket;
  onOpen(): void;
  onMessage(data: unknown): void;
  /** Returns whether to connect again. */
  onClose(closed: ConnectionEnd): "retry" | "stop";
  /** Maximum time for a connection to open. */
  connectTimeoutMs?: number;
}

const defaultConnectTimeoutMs = 10_000;

/** A WebSocket that reconnects with exponential backoff when the connection is lost. */
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

  /** Returns false if there is no connection at the moment. */
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
    // If the server is killed while we connect, neither `open` nor `close` may ever fire.
    this.timer = setTimeout(() => socket.close(), this.options.connectTimeoutMs ?? defaultConnectTimeoutMs);
    socket.addEventListener("open", () => {
      clearTimeout(this.timer);
      if (!this.isStopped) this.options.onOpen();
    });
    socket.addEventListener("message", ({ data }) => {
      if (this.isStopped) return;
      // Not on open: a server that accepts connections only to close them should also be retried less and less often.
      this.backoff.reset();
      this.options.onMessage(data);
    });
    // `close` follows. The listener is needed anyway: in Node an unhandled `error` event ends the process.
    socket.addEventListener("error", (event) => {
      status = parseRefusedStatus(event);
    });
    socket.addEventListener("close", ({ code, reason }) => {
      clearTimeout(this.timer);
      if (this.isStopped) return;
      const next = this.options.onClose({ code, reason, ...(status === undefined ? {} : { status }) });
      if (next === "stop" || this.isStopped) {
        this.isStopped = true;
        return;
      }
      this.timer = setTimeout(() => this.open(), this.backoff.next());
    });
  }
}

// Browsers do not reveal the status of a refused upgrade; the `ws` package has it in the error message.
function parseRefusedStatus(event: Event): number | undefined {
  const { message } = event as { message?: unknown };
  const [, status] = /Unexpected server response: (\d{3})/.exec(typeof message === "string" ? message : "") ?? [];
  return status === undefined ? undefined : Number(status);
}
