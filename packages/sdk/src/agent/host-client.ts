import type { AgentHost, HostCallName, HostCalls } from "./wire.ts";

const { parse, stringify } = JSON;

/** Calls the host of one request. */
export class HostClient {
  readonly signal: AbortSignal;
  readonly #host: AgentHost;
  /** Calls that nobody awaits, such as log lines: they have to be made before the request ends. */
  readonly #background = new Set<Promise<unknown>>();

  constructor(host: AgentHost, signal: AbortSignal) {
    this.#host = host;
    this.signal = signal;
  }

  call<N extends HostCallName>(name: N, input: HostCalls[N]["input"]): Promise<HostCalls[N]["output"]> {
    return this.callByName(name, input) as Promise<HostCalls[N]["output"]>;
  }

  async callByName(name: string, input: unknown): Promise<unknown> {
    this.signal.throwIfAborted();
    return this.#send(name, input);
  }

  async #send(name: string, input: unknown): Promise<unknown> {
    const output = await this.#host.call(name, stringify(input));
    return output === "" ? undefined : parse(output);
  }

  /** Calls without waiting, even if the request was interrupted. Errors are ignored. */
  notify<N extends HostCallName>(name: N, input: HostCalls[N]["input"]): void {
    const call = this.#send(name, input).catch(() => {});
    this.#background.add(call);
    void call.then(() => this.#background.delete(call));
  }

  /** Waits for the calls that nobody awaited. */
  async settle(): Promise<void> {
    await Promise.all(this.#background);
  }
}
