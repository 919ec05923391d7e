import { fail, validateScript, type Script, type ScriptInput, scriptNameSchema } from "@thinkery/sdk";
import { findNearest } from "@thinkery/sdk/internal";
import type { Host } from "../../host/host.ts";
import { tour } from "./tour.ts";

const builtIn: Record<string, ScriptInput> = { tour };

export interface Scripts {
  listNames(): Promise<string[]>;
  /** Finds a script in the folders of this machine, then among the built-in ones. */
  find(name: string): Promise<Script>;
}

/** Without a host (on Cloudflare) only built-in scripts are available. */
export function openScripts(host: Host | undefined): Scripts {
  const listNames = async () => {
    const found = await (host?.listScripts() ?? []);
    return [...new Set([...found, ...Object.keys(builtIn)])].toSorted();
  };

  async function find(name: string): Promise<Script> {
    const found = host && scriptNameSchema.safeParse(name).success ? await host.readScript(name) : undefined;
    const builtInScript = Object.hasOwn(builtIn, name) ? builtIn[name] : undefined;
    if (!found && !builtInScript) throw await createUnknownScriptError(name);
    const { script, issues } = validateScript(found ? found.script : builtInScript);
    if (script) return script;
    // The daemon has validated it already, so this is a daemon of another version.
    throw fail("bad_request", `Invalid script ${found?.file ?? name}: ${issues[0]?.message}.`, { issues });
  }

  async function createUnknownScriptError(name: string): Promise<Error> {
    const all = await listNames();
    const suggestion = findNearest(name, all);
    const advice = suggestion ? `Did you mean “scripted:${suggestion}”?` : `Available scripts: ${all.join(", ")}.`;
    const message = `Unknown script “${name}”. ${advice} Scripts are files named scripts/<name>.yaml in the data folder or the working folder.`;
    return fail("bad_request", message, suggestion ? { suggestion: `scripted:${suggestion}` } : {});
  }

  return { listNames, find };
}
