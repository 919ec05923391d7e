import type { Route } from "../serve.ts";
import { copyRoutes } from "./copy/routes.ts";
import type { LinuxSandbox } from "./linux.ts";

const orders = () => import("./orders.ts");

/** What main may ask of the Linux sandbox. */
export function linuxRoutes(linux: LinuxSandbox): Route[] {
  return [
    {
      method: "POST",
      path: "/linux/run",
      async answer({ body }) {
        const wanted = (await orders()).orderIn(body);
        return {
          async lines({ write, hasRoom, signal }) {
            const result = await linux.run(wanted, { onOutput: (output) => write({ output }), hasRoom, signal });
            write({ result });
          },
        };
      },
    },
    {
      method: "POST",
      path: "/linux/start",
      answer: async ({ body }) => ({ body: await linux.start((await orders()).orderIn(body)) }),
    },
    {
      method: "GET",
      path: "/linux/processes",
      answer: async ({ query }) => ({ body: { processes: linux.list((await orders()).agentIn(query)) } }),
    },
    {
      method: "GET",
      path: "/linux/process",
      async answer({ query }) {
        const { agent, id, after } = (await orders()).outputIn(query);
        return { body: linux.read(agent, id, after) };
      },
    },
    {
      method: "POST",
      path: "/linux/stop",
      async answer({ query }) {
        const { agent, id } = (await orders()).processIn(query);
        return { body: await linux.stop(agent, id) };
      },
    },
    {
      method: "POST",
      path: "/linux/forget",
      async answer({ query }) {
        await linux.forget((await orders()).agentIn(query));
        return { body: {} };
      },
    },
    ...copyRoutes(linux),
  ];
}
