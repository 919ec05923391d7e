import type { AgentWorker } from "../agent/agent.ts";
import type { AgentHost, HandlerError } from "../agent/wire.ts";

/** Makes one request to an agent, as a host does. Throws the error of its handler. */
export async function dispatch(
  worker: AgentWorker,
  route: string,
  payload: object,
  host: AgentHost,
  signal?: AbortSignal,
): Promise<unknown> {
  const request = new Request(`http://agent/${route}`, {
    method: "POST",
    // As text, because that is how it arrives.
    body: JSON.stringify(payload),
    ...(signal ? { signal } : {}),
  });
  const response = await worker.fetch(request, { HOST: host });
  if (response.status === 404) throw new Error(`The agent does not handle “${route}”.`);
  const body: unknown = await response.json();
  if (response.ok) return body;
  const { name, message, stack } = (body as HandlerError).error;
  throw Object.assign(new Error(message), { name, ...(stack ? { stack } : {}) });
}
