import type { Route } from "../../serve.ts";
import type { LinuxSandbox } from "../linux.ts";

const loadParsers = () => import("../parsers.ts");

/** Maximum size of a file in a workspace. */
const maxFileBytes = 100 * 1024 * 1024;
/** A plan contains all paths of a workspace with their hashes. */
const maxPlanBytes = 64 * 1024 * 1024;

/** Routes of the working copies, for main. */
export function createWorkingCopyRoutes({ loadCopies }: LinuxSandbox): Route[] {
  return [
    {
      method: "POST",
      path: "/linux/files/collect",
      async handle({ query }) {
        const { agent, largest: maxBytes } = (await loadParsers()).parseCollectionQuery(query);
        return { pieces: await (await loadCopies()).collect(agent, maxBytes) };
      },
    },
    {
      method: "POST",
      path: "/linux/files/plan",
      maxBodyBytes: maxPlanBytes,
      async handle({ query, body }) {
        const { parseAgent, parsePlan } = await loadParsers();
        return { body: { needed: await (await loadCopies()).plan(parseAgent(query), parsePlan(body)) } };
      },
    },
    {
      method: "POST",
      path: "/linux/files/put",
      maxBodyBytes: maxFileBytes + 1024 * 1024,
      async handle({ query, body }) {
        const agent = (await loadParsers()).parseAgent(query);
        return { body: { notes: await (await loadCopies()).put(agent, body, maxFileBytes) } };
      },
    },
  ];
}
