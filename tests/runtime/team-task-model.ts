import type { TaskStatus } from "@thinkery/sdk";
import type { Actor } from "../../packages/runtime/src/agency/actor.ts";

/** A shared task as the model sees it; its number is its index. */
export interface ModelTask {
  status: TaskStatus;
  dependencies: number[];
  holder?: Actor | undefined;
  until?: number | undefined;
}

export type ModelStep = { now: number; by: Actor } & (
  | { step: "create"; dependencies: number[] }
  | { step: "claim"; task: number }
  | { step: "assign"; task: number; agent: string }
  | { step: "update"; task: number; status: TaskStatus }
  | { step: "depend"; task: number; dependencies: number[] }
  | { step: "renew" | "forget"; agent: string }
);

const isFinal = (status: TaskStatus) => ["complete", "failed", "cancelled"].includes(status);
const isHurdle = (status: TaskStatus) => ["blocked", "failed", "cancelled"].includes(status);
const isSame = (one: Actor | undefined, other: Actor) => one?.kind === other.kind && one.name === other.name;

/** Shared tasks in the simplest way: every rule looks at every task. Steps that are not allowed throw and change nothing. */
export class TeamTaskModel {
  tasks: ModelTask[] = [];
  readonly #leaseMs: number;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  perform(step: ModelStep): void {
    if (step.step === "renew") this.#renew(step.agent, step.now);
    this.#expire(step.now);
    const before = structuredClone(this.tasks);
    try {
      this.#perform(step);
    } catch (error) {
      this.tasks = before;
      throw error;
    }
  }

  #perform(step: ModelStep): void {
    const { now, by } = step;
    switch (step.step) {
      case "create":
        this.tasks.push({ status: "pending", dependencies: step.dependencies });
        return this.#block(this.tasks.length - 1);
      case "claim":
        return this.#claim(step.task, by, now);
      case "assign":
        return this.#claim(step.task, { kind: "agent", name: step.agent }, now);
      case "update":
        return this.#setStatus(step.task, step.status, by, now);
      case "depend":
        return this.#setDependencies(step.task, step.dependencies, by);
      case "renew":
        return;
      case "forget":
        for (const [index, task] of this.tasks.entries())
          if (isSame(task.holder, { kind: "agent", name: step.agent }) && task.status === "in_progress")
            this.#drop(index);
    }
  }

  /** Also a claim that has ended, if nothing has happened since. */
  #renew(agent: string, now: number): void {
    for (const task of this.tasks)
      if (isSame(task.holder, { kind: "agent", name: agent }) && task.status === "in_progress")
        if ((task.until ?? 0) < now + this.#leaseMs * 0.8) task.until = now + this.#leaseMs;
  }

  #expire(now: number): void {
    for (const [index, { status, until }] of this.tasks.entries())
      if (status === "in_progress" && until !== undefined && until <= now) this.#drop(index);
  }

  /** Ends a claim. */
  #drop(index: number): void {
    const task = this.#get(index);
    Object.assign(task, { status: "pending", holder: undefined, until: undefined });
    this.#block(index);
  }

  #claim(index: number, holder: Actor, now: number): void {
    const task = this.#get(index);
    if (task.status === "in_progress") {
      if (!isSame(task.holder, holder)) throw new Error("claimed");
    } else if (task.status !== "pending" || !this.#isReady(task)) throw new Error("not ready");
    Object.assign(task, {
      status: "in_progress",
      holder,
      until: holder.kind === "agent" ? now + this.#leaseMs : undefined,
    });
  }

  #setStatus(index: number, status: TaskStatus, by: Actor, now: number): void {
    const task = this.#get(index);
    const isHolder = isSame(task.holder, by);
    if (isFinal(task.status) && task.status === status && (by.kind === "user" || isHolder)) return;
    if (by.kind === "agent" && !isHolder) throw new Error("not the holder");
    if (isFinal(task.status)) throw new Error("finished");
    if (status === "in_progress") {
      if (task.status !== "in_progress") this.#claim(index, by, now);
      else if (!isHolder) throw new Error("claimed");
      return;
    }
    if (status === "pending" && task.dependencies.some((other) => isHurdle(this.#get(other).status)))
      throw new Error("waits");
    task.status = status;
    task.until = undefined;
    if (!isFinal(status)) task.holder = undefined;
    if (isHurdle(status)) this.#blockDependents(index);
    if (status === "complete")
      for (const other of this.tasks)
        if (other.status === "blocked" && other.dependencies.includes(index) && this.#isReady(other))
          other.status = "pending";
  }

  #setDependencies(index: number, dependencies: number[], by: Actor): void {
    const task = this.#get(index);
    if (by.kind === "agent" && !isSame(task.holder, by)) throw new Error("not the holder");
    if (isFinal(task.status)) throw new Error("finished");
    const isReached = (from: number): boolean => from === index || this.#get(from).dependencies.some(isReached);
    if (dependencies.some(isReached)) throw new Error("cycle");
    task.dependencies = dependencies;
    if (task.status === "in_progress") return;
    task.status = "pending";
    this.#block(index);
  }

  #block(index: number): void {
    const task = this.#get(index);
    if (!task.dependencies.some((other) => isHurdle(this.#get(other).status))) return;
    task.status = "blocked";
    this.#blockDependents(index);
  }

  #blockDependents(index: number): void {
    for (const [other, task] of this.tasks.entries())
      if (task.status === "pending" && task.dependencies.includes(index)) {
        task.status = "blocked";
        this.#blockDependents(other);
      }
  }

  #isReady({ dependencies }: ModelTask): boolean {
    return dependencies.every((other) => this.#get(other).status === "complete");
  }

  #get(index: number): ModelTask {
    return this.tasks[index]!;
  }
}
