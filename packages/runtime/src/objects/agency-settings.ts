import {
  type AgencyChange,
  type AgencyDetails,
  defaultAgencySettings,
  type AgencySettings as Settings,
  type Variables,
} from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { AgencyContext } from "./agency-feature.ts";

type SettingsContext = Omit<AgencyContext, "settings">;

interface SettingsOptions extends SettingsContext {
  /** Tells those who list the agency that it has another name. */
  announceName(name: string): Promise<void>;
}

interface Stored {
  settings: Partial<Settings>;
  vars: Variables;
}

/** The name, settings and variables of an agency. */
export class AgencySettings {
  readonly api: SettingsApi;
  readonly #options: SettingsOptions;
  #cached: Stored | undefined;

  constructor(options: SettingsOptions) {
    this.#options = options;
    this.api = new SettingsApi(async () => {
      await options.open();
      return this;
    });
  }

  get settings(): Settings {
    return { ...defaultAgencySettings, ...this.#read().settings };
  }

  get vars(): Variables {
    return this.#read().vars;
  }

  describe(): AgencyDetails {
    const { record, agents } = this.#options;
    return { ...record.get(), settings: this.settings, vars: this.vars, agents: agents.count() };
  }

  async update({ name, settings, vars }: AgencyChange): Promise<AgencyDetails> {
    const { record, redactor, publish, announceName, onAgentsChange } = this.#options;
    const before = this.#read();
    // Redacted here and not when they are read: who changes one sends all of them back.
    this.#write({ settings: { ...before.settings, ...settings }, vars: redactor.redactValue(vars ?? before.vars) });
    if (name !== undefined) record.rename(name);
    // The prompts of blueprints name variables.
    if (vars) onAgentsChange();
    publish(() => ({ type: "changed", what: "settings" }));
    // Also if it has this name already: they may not have heard of it because of a crash.
    if (name !== undefined) await announceName(name);
    return this.describe();
  }

  #read(): Stored {
    return (this.#cached ??= this.#load());
  }

  #load(): Stored {
    const [row] = this.#options.storage.sql
      .exec<{ settings: string; vars: string }>("SELECT settings, vars FROM agency_settings")
      .toArray();
    if (!row) return { settings: {}, vars: {} };
    return { settings: JSON.parse(row.settings) as Partial<Settings>, vars: JSON.parse(row.vars) as Variables };
  }

  #write(stored: Stored): void {
    this.#options.storage.sql.exec(
      `INSERT INTO agency_settings (only, settings, vars) VALUES (1, ?, ?)
       ON CONFLICT (only) DO UPDATE SET settings = excluded.settings, vars = excluded.vars`,
      JSON.stringify(stored.settings),
      JSON.stringify(stored.vars),
    );
    this.#cached = stored;
  }
}

export class SettingsApi extends RpcTarget {
  readonly #open: () => Promise<AgencySettings>;

  constructor(open: () => Promise<AgencySettings>) {
    super();
    this.#open = open;
  }

  async get(): Promise<AgencyDetails> {
    return (await this.#open()).describe();
  }

  /** Changes what is given; `vars` replaces all variables. */
  async update(change: AgencyChange): Promise<AgencyDetails> {
    return (await this.#open()).update(change);
  }
}
