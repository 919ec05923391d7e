import { fail, validateScript, type Script, type ScriptInput, scriptNameSchema } from "@thinkery/sdk";
import { findNearest } from "@thinkery/sdk/internal";
import type { Host } from "../../host/host.ts";
import { tour } from "./tour.ts";

const builtIn: Record<string, ScriptInput> = { tour };

export interface Scripts {
  listNames(): Promise<string[]>;
  /** The script of that name: from the machine's folders, else built in. */
  find(name: string): Promise<Script>;
}

/** On Cloudflare there is no daemon, and only the built-in ones are there. */
export function openScripts(host: Host | undefined): Scripts {
  const listNames = async () => {
    const found = await (host?.listScripts() ?? []);
    return [...new Set([...found, ...Object.keys(builtIn)])].toSorted();
  };

  async function find(name: string): Promise<Script> {
    const found = host && scriptNameSchema.safeParse(name).success ? await host.readScript(name) : undefined;
    const own = Object.hasOwn(builtIn, name) ? builtIn[name] : undefined;
    if (!found && !own) throw await createUnknownScriptError(name);
    const { script, problems } = validateScript(found ? found.script : own);
    if (script) return script;
    // The daemon has checked it already; this is a daemon of another version.
    throw fail("bad_request", `The script ${found?.file ?? name} is not valid: ${problems[0]?.message}.`, { problems });
  }

  async function createUnknownScriptError(name: string): Promise<Error> {
    const all = await listNames();
    const suggestion = findNearest(name, all);
    const advice = suggestion ? `did you mean “scripted:${suggestion}”?` : `there are ${all.join(", ")}.`;
    const message = `There is no script “${name}”; ${advice} A script is a file scripts/<name>.yaml in the data folder or the working folder.`;
    return fail("bad_request", message, suggestion ? { suggestion: `scripted:${suggestion}` } : {});
  }

  return { listNames, find };
}
