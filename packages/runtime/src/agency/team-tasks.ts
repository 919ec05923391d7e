import {
  diffGraphs,
  fail,
  isTaskError,
  blockTask,
  type NewTeamTask,
  releaseTask,
  type TaskChange,
  type TaskGraph,
  type TeamTask,
  type TeamTaskList,
  type TeamTaskQuery,
} from "@thinkery/sdk";
import { changeTask, createTask, isDone, requireGraph } from "../store/change-graph.ts";
import { readCursor, takePage } from "../store/page.ts";
import type { Actor } from "./actor.ts";
import { type StoredTeamTask, TeamTaskTable, toTeamTask } from "./team-task-table.ts";

interface TeamTasksOptions {
  storage: DurableObjectStorage;
  /** How long an agent holds a task without renewing its claim. */
  getClaimSeconds(): number;
  redact<T>(value: T): T;
  /** Called with each task that was created or changed. */
  onChange(task: TeamTask): void;
  /** Called when a person gives a task to an agent. What it writes is stored with the claim. */
  onAssigned?(agent: string, task: TeamTask, by: Actor): void;
  now?(): number;
}

/** A claim is renewed once a fifth of it has passed, so that a busy agent rarely writes. */
const renewedPart = 1 / 5;
/** Whoever holds a task is asked whether it works when this much of its claim is left. */
const askedPart = 1 / 5;
/** What a model is shown. */
const maxOpenForAgents = 100;
const maxFinishedForAgents = 20;

/** The tasks that the members of an agency share. Whoever claims one holds it exclusively, agents for a limited time. */
export class TeamTasks {
  readonly #options: TeamTasksOptions;
  readonly #table: TeamTaskTable;

  constructor(options: TeamTasksOptions) {
    this.#options = options;
    this.#table = new TeamTaskTable(options.storage.sql);
  }

  countOpen(): number {
    return this.#table.countOpen();
  }

  list({ status, after, limit }: TeamTaskQuery): TeamTaskList {
    this.releaseExpired();
    const rows = this.#table.list(status, readCursor(after, 0), limit + 1);
    const { items, ...next } = takePage(rows, {
      limit,
      toItem: toTeamTask,
      countChars,
      toCursor: ({ number }) => String(number),
    });
    return { tasks: items, progress: this.#table.countProgress(), ...next };
  }

  /** Returns the open tasks, and those that ended last, because others may need their results. */
  listForAgent(): TeamTaskList {
    this.releaseExpired();
    const finished = this.#table.listLatestFinished(maxFinishedForAgents);
    const open = this.#table.list("open", 0, maxOpenForAgents);
    const tasks = [...finished, ...open].sort((a, b) => a.number - b.number).map(toTeamTask);
    return { tasks, progress: this.#table.countProgress() };
  }

  /** The same key is the same task. */
  create(input: NewTeamTask, by: Actor, key?: string): TeamTask {
    const known = key === undefined ? undefined : this.#table.findByKey(key);
    if (known) return toTeamTask(known);
    return this.#change(() => {
      const task = createTask(this.#table, input, { now: this.#now(), owner: "This agency" });
      this.#table.insert(this.#options.redact(task), by.name, key);
      return [task.id];
    });
  }

  /** Claims a task that nobody works on, or renews the holder's own claim. */
  claim(id: string, by: Actor): TeamTask {
    this.releaseExpired();
    return this.#claim(id, by);
  }

  /** Claims a task for an agent. */
  assign(id: string, agent: string, by: Actor): TeamTask {
    this.releaseExpired();
    return this.#claim(id, { kind: "agent", name: agent }, (task) => this.#options.onAssigned?.(agent, task, by));
  }

  /** Changes a task: a person any, an agent those that it holds. Making the same change again changes nothing. */
  update(id: string, change: TaskChange, by: Actor): TeamTask {
    this.releaseExpired();
    const stored = this.#get(id);
    const redacted = this.#options.redact(change);
    const isHolder = isSame(stored.holder, by);
    if ((by.kind === "user" || isHolder) && isDone(stored.task, redacted)) return toTeamTask(stored);
    if (by.kind === "agent" && !isHolder) throw createNotHolderError(stored);
    const { status, ...rest } = redacted;
    const isClaim = status === "in_progress";
    const claims = isClaim && stored.task.status !== "in_progress";
    if (isClaim && !claims && !isHolder) throw createClaimedError(stored);
    return this.#change(() => {
      const applied = isClaim && !claims ? rest : redacted;
      const changed = this.#apply(
        changeTask(this.#table, id, applied, { now: this.#now(), ...(claims ? { assignedTo: by.name } : {}) }),
      );
      if (claims) this.#table.setClaim(id, by.kind, this.#getClaimEnd(by));
      return [id, ...changed.filter((other) => other !== id)];
    });
  }

  /** Called while a turn of an agent runs, and when one ends. Rarely writes. */
  renewClaims(agent: string): void {
    const now = this.#now();
    const leaseMs = this.#getLeaseMs();
    const until = now + leaseMs;
    // Also a claim that has expired, if nobody has noticed.
    for (const task of this.#table.extendClaims(agent, until - leaseMs * renewedPart, until))
      this.#options.onChange(toTeamTask(task));
    this.releaseExpired();
  }

  /** Releases what a deleted agent held. */
  forgetAgent(agent: string): void {
    this.#release(this.#table.listHeldByAgent(agent));
  }

  /** Makes tasks pending again whose holders have not renewed their claims. */
  releaseExpired(): void {
    this.#release(this.#table.listExpired(this.#now()));
  }

  /** Returns the agents that hold tasks, when their claims end, and when to ask them whether they work. */
  listHolders(): { agent: string; askAt: number; until: number }[] {
    return this.#table.listHolders().map((holder) => ({ ...holder, askAt: this.#getAskTime(holder.until) }));
  }

  /** Returns when an agent is asked that claims a task now. */
  getNextAskTime(): number {
    return this.#getAskTime(this.#now() + this.#getLeaseMs());
  }

  #getAskTime(until: number): number {
    return until - this.#getLeaseMs() * askedPart;
  }

  #claim(id: string, holder: Actor, onClaim?: (task: TeamTask) => void): TeamTask {
    const stored = this.#get(id);
    const isHeld = stored.task.status === "in_progress";
    if (isHeld && !isSame(stored.holder, holder)) throw createClaimedError(stored);
    return this.#change(() => {
      if (!isHeld)
        this.#apply(
          changeTask(this.#table, id, { status: "in_progress" }, { now: this.#now(), assignedTo: holder.name }),
        );
      this.#table.setClaim(id, holder.kind, this.#getClaimEnd(holder));
      if (!isHeld) onClaim?.(toTeamTask(this.#get(id)));
      return [id];
    });
  }

  #release(ids: readonly string[]): void {
    if (ids.length === 0) return;
    this.#change(() => {
      const before = this.#table.loadGraph(ids);
      let after = before;
      for (const id of ids) {
        const released = releaseTask(after, id);
        // What it depends on may have been changed to something that cannot be completed.
        after = requireGraph(isTaskError(released) ? blockTask(after, id) : released);
      }
      return this.#apply({ before, after });
    });
  }

  /** Stores what differs, and returns the ids. */
  #apply({ before, after }: { before: TaskGraph; after: TaskGraph }): string[] {
    const ids = diffGraphs(before, after).map(({ taskId }) => taskId);
    for (const id of ids) this.#table.update(after.tasks.get(id)!);
    return ids;
  }

  /** Makes a change that returns the ids of the changed tasks, and returns the first of them as it is then. */
  #change(change: () => string[]): TeamTask {
    const ids = this.#options.storage.transactionSync(change);
    const [first, ...others] = ids.map((id) => toTeamTask(this.#get(id)));
    for (const task of [first!, ...others]) this.#options.onChange(task);
    return first!;
  }

  #get(id: string): StoredTeamTask {
    const stored = this.#table.find(id);
    if (!stored) throw fail("not_found", `There is no shared task “${id.slice(0, 100)}”.`);
    return stored;
  }

  /** People hold a task until they end or release it. */
  #getClaimEnd({ kind }: Actor): number | undefined {
    return kind === "agent" ? this.#now() + this.#getLeaseMs() : undefined;
  }

  #getLeaseMs(): number {
    return this.#options.getClaimSeconds() * 1000;
  }

  #now(): number {
    return this.#options.now?.() ?? Date.now();
  }
}

const isSame = (one: Actor | undefined, other: Actor) => one?.kind === other.kind && one.name === other.name;

function createClaimedError(stored: StoredTeamTask): Error {
  const { task, holder, claimedUntil } = stored;
  const end = claimedUntil === undefined ? "" : ` until ${new Date(claimedUntil).toISOString()}`;
  return fail("conflict", `Task “${task.id}” is claimed by ${holder?.name}${end}.`);
}

function createNotHolderError(stored: StoredTeamTask): Error {
  const { task } = stored;
  if (task.status === "in_progress") {
    const { message } = createClaimedError(stored);
    return fail("conflict", `${message} Only they or a person can change it.`);
  }
  const state = task.status.replace("_", " ");
  return fail(
    "conflict",
    `You do not hold task “${task.id}”, which is ${state}. An agent can only end what it has claimed.`,
  );
}

function countChars({ task: { title, description = "", result = "", error = "" } }: StoredTeamTask): number {
  return 400 + title.length + description.length + result.length + error.length;
}
