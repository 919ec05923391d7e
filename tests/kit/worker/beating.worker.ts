import { Think as TestThink } from "./main.worker.ts";

export { Agency, default, Supervision, User } from "./main.worker.ts";

/** Logs whenever an agent is woken by a schedule. */
export class Think extends TestThink {
  override async heartbeat(beat: number): Promise<void> {
    console.log(`woken: ${this.name}`);
    // Until the first crash, one agent never gets to the end of a beat.
    if (this.name.includes("stuck") && this.env.BOOT?.after !== "crash") await new Promise(() => {});
    await super.heartbeat(beat);
  }

  override async checkDue(at: number): Promise<void> {
    console.log(`woken: ${this.name}`);
    await super.checkDue(at);
  }
}
