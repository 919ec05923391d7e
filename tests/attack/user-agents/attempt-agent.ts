import type { Attempt } from "../sandbox/attempt.ts";

const AsyncFunction = (async () => {}).constructor as new (code: string) => unknown;

/** Whether an attempt is the body of an arrow function, so that it can be one handler of many in a module. */
export function isHandler({ code, options }: Attempt): boolean {
  if (options.modules || /new\.target|<!--/.test(code)) return false;
  try {
    void new AsyncFunction(`"use strict";\n${code}`);
    return true;
  } catch {
    return false;
  }
}

/** Returns the code of an agent that makes the attempt whose name is the message, and replies with its outcome. */
export function createAttemptAgent(attempts: readonly { name: string; code: string }[]): string {
  const handlers = attempts.map(
    ({ name, code }) => `${JSON.stringify(name)}: async ({ echo, tools, ctx }) => {\n${code}\n},`,
  );
  return `
const { stringify } = JSON;
const show = (value) => {
  if (typeof value === "function") return "a function";
  try { return typeof value === "string" ? value : String(stringify(value) ?? value); }
  catch (error) { return "unprintable: " + error; }
};
const attempts = {
${handlers.join("\n")}
};
export default defineAgent({
  async onMessage({ content }, ctx) {
    const echo = async (value) => {
      await ctx.storage.set("echo", value === undefined ? null : value);
      return ctx.storage.get("echo");
    };
    const tools = new Proxy({}, {
      get: (_, name) => name === "then" ? undefined : (input) => ctx.tools.execute(name, input),
    });
    let outcome;
    try { outcome = "ok: " + show(await attempts[content]({ echo, tools, ctx })); }
    catch (error) { outcome = "threw: " + show(error?.name) + ": " + show(error?.message) + " " + show(error?.stack); }
    await ctx.send(outcome.slice(0, 20_000));
  },
});`;
}
