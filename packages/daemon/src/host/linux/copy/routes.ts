import type { Route } from "../../serve.ts";
import type { LinuxSandbox } from "../linux.ts";

const loadParsers = () => import("../parsers.ts");

/** No file of a workspace is larger. */
const maxFileBytes = 100 * 1024 * 1024;
/** All paths of a workspace with their hashes. */
const maxPlanBytes = 64 * 1024 * 1024;

/** What main may ask of the copies that commands work in. */
export function createWorkingCopyRoutes({ loadCopies }: LinuxSandbox): Route[] {
  return [
    {
      method: "POST",
      path: "/linux/files/collect",
      async handle({ query }) {
        const { agent, largest } = (await loadParsers()).parseCollectionQuery(query);
        return { pieces: await (await loadCopies()).collect(agent, largest) };
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
