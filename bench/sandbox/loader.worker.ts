/** The minimal isolate for code: loaded, run once and discarded. */
export default {
  async fetch(request: Request, { LOADER }: { LOADER: WorkerLoader }): Promise<Response> {
    if (request.method === "GET") return new Response("alive");
    const code = await request.text();
    const worker = LOADER.load({
      compatibilityDate: "2026-10-01",
      compatibilityFlags: ["no_nodejs_compat", "no_nodejs_compat_v2"],
      mainModule: "main.js",
      modules: {
        "main.js": `import { WorkerEntrypoint } from "cloudflare:workers"; export default class extends WorkerEntrypoint { async run() { ${code} } }`,
      },
      env: {},
      globalOutbound: null,
    });
    const entrypoint = worker.getEntrypoint() as unknown as { run(): Promise<unknown> };
    return Response.json(await entrypoint.run());
  },
};
