import { type Agent as AgentInfo, fail } from "@thinkery/sdk";
import { migrate } from "../store/migrate.ts";
import { thinkMigrations } from "../store/schema/think.ts";
import type { Env } from "./env.ts";
import { Housed } from "./housed.ts";

/** What a client sees of an agent at a glance. */
export interface ThinkState {
  status: "idle";
}

/** A durable agent: one conversation, one workspace. Named `{agency}~{agent}`. */
export class Think extends Housed<ThinkState> {
  override initialState: ThinkState = { status: "idle" };

  constructor(ctx: DurableObjectState, env: Env & Cloudflare.Env) {
    super(ctx, env);
    migrate(ctx.storage, thinkMigrations);
  }

  /** Told by the agency, possibly twice: a crash may have come between its row and ours. */
  async register(agent: AgentInfo, props?: Record<string, unknown>): Promise<void> {
    await this.ready();
    this.ctx.storage.sql.exec(
      "INSERT INTO registration (only, agent, props) VALUES (1, ?, ?) ON CONFLICT (only) DO NOTHING",
      JSON.stringify(agent),
      props ? JSON.stringify(props) : null,
    );
  }

  async describe(): Promise<AgentInfo> {
    await this.ready();
    const [row] = this.ctx.storage.sql
      .exec<{ agent: string }>("SELECT agent FROM registration")
      .toArray();
    if (!row) throw fail("not_found", "There is no such agent.");
    return JSON.parse(row.agent) as AgentInfo;
  }

  /** Forgets everything. Safe to ask again. */
  async erase(): Promise<void> {
    await this.destroy();
  }

  protected override async settle(): Promise<void> {}
}
