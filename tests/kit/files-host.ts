import { type HostProcess, startHostProcess } from "./host-process.ts";
import { send } from "./wire.ts";

interface FileRequestOptions {
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** Starts a host for tests of agents' files, with the client and with plain HTTP. */
export async function openFilesHost() {
  const host: HostProcess = await startHostProcess();
  let agentCount = 0;

  return {
    host,

    /** Creates an agent with an empty workspace. */
    async newAgent() {
      const { name } = await host.client.agents().create({ name: `keeper-${++agentCount}` });
      return host.client.agent(name);
    },

    /** Sends a request to a route of the agent. */
    request: (method: string, agent: { name: string }, rest: string, { headers = {}, body }: FileRequestOptions = {}) =>
      send({
        port: host.port,
        method,
        path: buildAgentPath(agent, rest),
        headers: { authorization: `Bearer ${host.token}`, ...headers },
        ...(body === undefined ? {} : { body }),
      }),

    stop: () => host.stop(),
  };
}

export type FilesHost = Awaited<ReturnType<typeof openFilesHost>>;

export const buildAgentPath = (agent: { name: string }, rest: string) => `/agents/${agent.name}/${rest}`;

export const listPaths = async (agent: { files(): Promise<{ files: { path: string }[] }> }) =>
  (await agent.files()).files.map(({ path }) => path);
