import type { Route } from "../../serve.ts";
import type { LinuxSandbox } from "../linux.ts";

const orders = () => import("../orders.ts");

/** No file of a workspace is larger. */
const maxFileBytes = 100 * 1024 * 1024;
/** All paths of a workspace with their hashes. */
const maxPlanBytes = 64 * 1024 * 1024;

/** What main may ask of the copies that commands work in. */
export function copyRoutes({ copies }: LinuxSandbox): Route[] {
  return [
    {
      method: "POST",
      path: "/linux/files/collect",
      async answer({ query }) {
        const { agent, largest } = (await orders()).collectionIn(query);
        return { pieces: await (await copies()).collect(agent, largest) };
      },
    },
    {
      method: "POST",
      path: "/linux/files/plan",
      longestBody: maxPlanBytes,
      async answer({ query, body }) {
        const { agentIn, planIn } = await orders();
        return { body: { needed: await (await copies()).plan(agentIn(query), planIn(body)) } };
      },
    },
    {
      method: "POST",
      path: "/linux/files/put",
      longestBody: maxFileBytes + 1024 * 1024,
      async answer({ query, body }) {
        const agent = (await orders()).agentIn(query);
        return { body: { notes: await (await copies()).put(agent, body, maxFileBytes) } };
      },
    },
  ];
}
