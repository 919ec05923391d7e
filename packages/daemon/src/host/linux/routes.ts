import type { Route } from "../serve.ts";
import { createWorkingCopyRoutes } from "./copy/routes.ts";
import type { LinuxSandbox } from "./linux.ts";

const loadParsers = () => import("./parsers.ts");

/** Routes of the Linux sandbox, for main. */
export function createLinuxRoutes(linux: LinuxSandbox): Route[] {
  return [
    {
      method: "POST",
      path: "/linux/run",
      async handle({ body }) {
        const request = (await loadParsers()).parseCommand(body);
        return {
          async lines({ write, hasRoom, signal }) {
            const result = await linux.run(request, { onOutput: (output) => write({ output }), hasRoom, signal });
            write({ result });
          },
        };
      },
    },
    {
      method: "POST",
      path: "/linux/start",
      handle: async ({ body }) => ({ body: await linux.start((await loadParsers()).parseCommand(body)) }),
    },
    {
      method: "GET",
      path: "/linux/processes",
      handle: async ({ query }) => ({ body: { processes: linux.list((await loadParsers()).parseAgent(query)) } }),
    },
    {
      method: "GET",
      path: "/linux/process",
      async handle({ query }) {
        const { agent, id, after } = (await loadParsers()).parseOutputQuery(query);
        return { body: linux.read(agent, id, after) };
      },
    },
    {
      method: "POST",
      path: "/linux/stop",
      async handle({ query }) {
        const { agent, id } = (await loadParsers()).parseProcessQuery(query);
        return { body: await linux.stop(agent, id) };
      },
    },
    {
      method: "POST",
      path: "/linux/forget",
      async handle({ query }) {
        await linux.forget((await loadParsers()).parseAgent(query));
        return { body: {} };
      },
    },
    ...createWorkingCopyRoutes(linux),
  ];
}
