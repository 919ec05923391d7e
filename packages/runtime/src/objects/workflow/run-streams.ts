import type { JobEvent, WorkflowRun } from "@thinkery/sdk";
import type { DeliveryReport } from "../../agency/team/deliveries.ts";
import { isOpenRun } from "../../agency/team/run-record.ts";
import { createEventStream, type EventStream, formatSse } from "../stream.ts";

/** Those who follow the run of a workflow. */
export class RunStreams {
  readonly #streams = new Set<EventStream>();
  readonly #waiters = new Set<(run: WorkflowRun) => void>();
  /** What the agents last replied, the latest last. What they did before the memory was lost is missing. */
  readonly #replies = new Map<string, string>();

  get isFollowed(): boolean {
    return this.#streams.size > 0;
  }

  /** Forgets what agents replied in an earlier run. */
  reset(): void {
    this.#replies.clear();
  }

  noteReply({ agent, status, result }: DeliveryReport): void {
    if (status !== "completed" || result.trim() === "") return;
    this.#replies.delete(agent);
    this.#replies.set(agent, result);
  }

  open(run: WorkflowRun, onEnd: () => void): EventStream {
    const stream = createEventStream(
      () => {},
      (self) => {
        this.#streams.delete(self);
        onEnd();
      },
    );
    this.#streams.add(stream);
    if (!isOpenRun(run)) this.#end(stream, run);
    return stream;
  }

  send(event: JobEvent): void {
    for (const stream of this.#streams) stream.send(format(event));
  }

  end(run: WorkflowRun): void {
    for (const stream of this.#streams) this.#end(stream, run);
    this.resolveWaiters(run);
  }

  /** Resolves when the run is over, was stopped, or waits for a person. */
  waitForEnd(run: WorkflowRun): Promise<WorkflowRun> {
    if (run.status !== "running") return Promise.resolve(run);
    return new Promise((resolve) => this.#waiters.add(resolve));
  }

  resolveWaiters(run: WorkflowRun): void {
    for (const resolve of this.#waiters) resolve(run);
    this.#waiters.clear();
  }

  close(): void {
    for (const stream of this.#streams) stream.end();
  }

  /** Each agent is done, and with the last one the run. */
  #end(stream: EventStream, run: WorkflowRun): void {
    const last = [...this.#replies.keys()].at(-1) ?? run.agents[0] ?? run.workflow;
    const status = run.status === "completed" ? "completed" : run.status === "stopped" ? "stopped" : "failed";
    for (const agent of run.agents) {
      if (agent === last) continue;
      const content = this.#replies.get(agent) ?? "";
      stream.send(format({ type: "done", agent, runId: run.agency, status, content }));
    }
    stream.send(
      format({
        type: "done",
        agent: last,
        runId: run.agency,
        status,
        content: run.result ?? "",
        finishReason: run.reason ?? "stop",
        ...(run.reason === undefined ? {} : { reason: run.reason }),
        ...(run.message === undefined ? {} : { message: run.message }),
        usage: run.usage,
        run,
      }),
    );
    stream.end();
  }
}

const format = (event: JobEvent) => formatSse(event.type, JSON.stringify(event));
