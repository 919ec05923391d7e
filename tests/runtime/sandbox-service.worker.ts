import { ToolError } from "@thinkery/sdk";
import { openSandbox, type SandboxEnv } from "../../packages/runtime/src/sandbox/open.ts";

/** Runs code as main does without a daemon: `SANDBOX` is another Worker, and nothing else is bound. */
export default {
  async fetch(request: Request, env: SandboxEnv): Promise<Response> {
    if (request.method === "GET") return new Response("ready");
    const {
      code,
      app,
      timeoutMs = 5000,
      abortMs,
    } = (await request.json()) as { code?: string; app?: string; timeoutMs?: number; abortMs?: number };
    const abortController = new AbortController();
    if (abortMs) setTimeout(() => abortController.abort(new Error("stopped")), abortMs);
    const output: string[] = [];
    const runOptions = {
      agent: "global~ada",
      timeoutMs,
      signal: abortController.signal,
      call: async (capability: string, input: string) => JSON.stringify([capability, JSON.parse(input)]),
      onConsole: (text: string) => void output.push(text),
      onPlace() {},
    };
    const sandbox = openSandbox(env);
    try {
      if (app)
        return await sandbox.serve(
          { id: "global~ada.1", main: "main.ts", modules: { "main.ts": app } },
          new Request("http://app/x"),
          runOptions,
        );
      return Response.json({ result: await sandbox.run({ code: code ?? "", modules: {} }, runOptions), output });
    } catch (error) {
      return Response.json({
        errorCode: error instanceof ToolError ? error.code : "other",
        message: (error as Error).message,
      });
    }
  },
};
