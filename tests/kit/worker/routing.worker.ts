import { AgentSystem } from "@thinkery/runtime";
import { defineTool, type Tool } from "@thinkery/sdk";
import { Agent, type FiberRecoveryContext } from "agents";
import { z } from "zod";
import type { Probe } from "./probe.ts";

// Agents that do with facets of their own class whatever a test asks for, through the SDK's own methods.

const system = new AgentSystem({ defaultModel: "scripted:default" }).defaults().export();

export const { Agency, User, Supervision, handler } = system;
export default handler;

/** Kebab-cased, its name is the separator of paths. */
export class Sub extends Agent {}

export class Think extends system.Think {
  protected override getCustomTools(): readonly Tool[] {
    return [
      defineTool(
        {
          name: "probe",
          description: "Does what a test asks for.",
          inputSchema: z.object({ request: z.string() }),
          idempotent: true,
        },
        async ({ request }) => JSON.stringify((await this.probe(JSON.parse(request) as Probe)) ?? null),
      ),
    ];
  }

  async probe({ path: [next, ...rest] = [], method, args = [] }: Probe): Promise<unknown> {
    if (next === undefined) {
      await this.ensureReady();
      const probes = this.createProbes() as unknown as Record<string, (...args: unknown[]) => unknown>;
      return probes[method]?.(...args);
    }
    const child = await this.dynamicAgents.get(Think, next);
    return child.probe({ path: rest, method, args });
  }

  createProbes() {
    return {
      paths: () => ({ self: this.selfPath, parents: this.parentPath }),
      spawn: async (name: string) => {
        const { driver: _, ...info } = await this.describe();
        const child = await this.dynamicAgents.get(Think, name);
        await child.register({ ...info, name });
      },
      spawnSub: () => this.dynamicAgents.get(Sub, "any").then(String, String),
      has: (name: string) => this.dynamicAgents.has("Think", name),
      list: () => this.dynamicAgents.list(Think).map(({ name }) => name),
      remove: (name: string) => this.dynamicAgents.delete(Think, name),
      askParent: async () => (await this.parentAgent(Think)).probe({ method: "paths" }),
      askOther: () => this.parentAgent(Sub).then(String, String),
      broadcast: (text: string) => this.broadcast(JSON.stringify({ type: "probe", text })),
      setTitle: (title: string) => this.setState({ ...this.state, title }),
      // Private, and called by the SDK when a server connects.
      showServers: () => (this as unknown as { broadcastMcpServers(): void }).broadcastMcpServers(),
      schedule: async (seconds: number, label: string) => (await this.schedule(seconds, "note", label)).id,
      every: async (seconds: number, label: string) => (await this.scheduleEvery(seconds, "note", label)).id,
      cancel: (id: string) => this.cancelSchedule(id),
      getById: async (id: string) => (await this.getScheduleById(id))?.payload,
      listAll: async () =>
        (await this.listSchedules()).filter(({ callback }) => callback === "note").map(({ id }) => id),
      readSync: () => [() => this.getSchedule("x"), () => this.getSchedules()].map(getError),
      keepAwake: async () => {
        const release = await this.keepAlive();
        release();
        return this.keepAliveWhile(async () => "done");
      },
      startFiber: (name: string) => {
        void this.runFiber(name, async ({ stash }) => {
          stash({ step: 7 });
          await this.note(`${name} started`);
          await new Promise(() => {});
        });
      },
      notes: () => this.readNotes(),
      query: (query: string) => this.ctx.storage.sql.exec(query).toArray(),
    };
  }

  /** Called by schedules. */
  async note(label: string): Promise<void> {
    this.readNotes();
    this.ctx.storage.sql.exec("INSERT INTO probe_notes (label) VALUES (?)", label);
  }

  readNotes(): string[] {
    const { sql } = this.ctx.storage;
    sql.exec("CREATE TABLE IF NOT EXISTS probe_notes (label TEXT)");
    return sql
      .exec<{ label: string }>("SELECT label FROM probe_notes")
      .toArray()
      .map(({ label }) => label);
  }

  override async onFiberRecovered({ name, snapshot }: FiberRecoveryContext): Promise<void> {
    await this.note(`${name} recovered ${JSON.stringify(snapshot)}`);
  }

  override async onBeforeSubAgent(request: Request, child: { className: string; name: string }) {
    await this.note(`gate ${child.name}`);
    if (child.name === "answered") return new Response("The gate says no.", { status: 418 });
    const answer = await super.onBeforeSubAgent(request, child);
    if (answer || child.name !== "changed") return answer;
    const headers = new Headers(request.headers);
    headers.set("x-probe", "from the gate");
    return new Request(request, { headers });
  }

  override onRequest(request: Request): Response {
    return Response.json({ name: this.name, probe: request.headers.get("x-probe") });
  }
}

function getError(read: () => unknown): string {
  try {
    return `no error: ${String(read())}`;
  } catch (error) {
    return String(error);
  }
}
