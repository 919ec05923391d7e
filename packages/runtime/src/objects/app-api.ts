import type { AppInfo, NewApp } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { AppFeature } from "./app-feature.ts";

/** The app of an agent, for users' requests. */
export class AppApi extends RpcTarget {
  readonly #open: () => Promise<AppFeature>;

  constructor(open: () => Promise<AppFeature>) {
    super();
    this.#open = open;
  }

  async read(): Promise<AppInfo> {
    return (await this.#open()).read();
  }

  async put(app: NewApp, by: string): Promise<AppInfo> {
    return (await this.#open()).put(app, by);
  }

  async remove(by: string): Promise<void> {
    (await this.#open()).remove(by);
  }
}
