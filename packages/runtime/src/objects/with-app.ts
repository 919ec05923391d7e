import type { AppInfo, NewApp } from "@thinkery/sdk";
import type { AgentApp } from "./app.ts";
import { WithFiles } from "./with-files.ts";

/** What an agent's app offers to whoever may enter the agent. */
export abstract class WithApp<State> extends WithFiles<State> {
  protected abstract readonly app: AgentApp;

  async readApp(): Promise<AppInfo> {
    await this.open();
    return this.app.read();
  }

  async putApp(app: NewApp, by: string): Promise<AppInfo> {
    await this.open();
    return this.app.put(app, by);
  }

  async removeApp(by: string): Promise<void> {
    await this.open();
    this.app.remove(by);
  }

  async fetchApp(request: Request): Promise<Response> {
    await this.open();
    return this.app.fetch(request);
  }
}
