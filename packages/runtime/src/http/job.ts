import {
  agencyIdSchema,
  type AgentTarget,
  fail,
  formatAgencyRef,
  getDefaultAgency,
  isThinkeryError,
  type Job,
  newAgentSchema,
  type NewAgent,
  parseAgencyRef,
  parseAgentTarget,
} from "@thinkery/sdk";
import { findNearest } from "@thinkery/sdk/internal";
import { z } from "zod";
import type { Credential } from "../objects/credential-watch.ts";
import type { Env } from "../objects/env.ts";
import { checkNewAgent } from "../system/check-agent.ts";
import type { System } from "../system/system.ts";
import { type Caller, toCredentials } from "./authenticate.ts";
import { validate } from "./body.ts";
import { createChildStub } from "./child-stub.ts";
import { sha256 } from "./credentials.ts";
import { enterAgency, enterAgent, narrowCaller } from "./directory.ts";
import { checkMayDo } from "./guard.ts";

const maxAgents = 20;

type AgentRef = Pick<AgentTarget, "agency" | "agent">;

/** An agent of a job, or a sub-agent. */
interface JobAgent {
  agent: string;
  think: Pick<ReturnType<Env["Think"]["getByName"]>, "conversation">;
  /** What a stream of it depends on. */
  credentials: Credential[];
}

interface JobContext {
  env: Env;
  system: System;
  caller: Caller;
}

/** Returns the agents of a job. Agents that the job defines are created first, in an agency for this job. */
export async function resolveAgents({ env, system, caller }: JobContext, job: Job): Promise<JobAgent[]> {
  const { user } = caller;
  if (job.agent !== undefined)
    return [await findAgent(env, caller, parseAgentTarget(job.agent, getDefaultAgency(user)))];
  const newAgents = parseNewAgents(job);
  for (const agent of newAgents) checkNewAgent(env, system, agent);
  const agency = chooseAgency(user, job);
  await openAgency(env, user, agency);
  const credentials = toCredentials(caller);
  return Promise.all(newAgents.map(async (agent) => ({ ...(await openAgent(env, user, agency, agent)), credentials })));
}

/** Returns an existing agent. Throws an error that suggests the nearest name if there is none. */
async function findAgent(env: Env, caller: Caller, ref: AgentRef): Promise<JobAgent> {
  const { user } = caller;
  try {
    const member = await narrowCaller(env, caller, ref.agency);
    checkMayDo(member, "chat", ref.agency);
    const [name = "", ...sub] = ref.agent.split("/");
    const root = env.Think.getByName(await enterAgent(env, user, ref.agency, name));
    const think = sub.length === 0 ? root : await createChildStub(root, sub);
    return { agent: ref.agent, think, credentials: toCredentials(member) };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const suggestion = await suggestAgent(env, user, ref);
    throw fail(
      "not_found",
      suggestion ? `${error.message} Did you mean “${suggestion}”?` : error.message,
      suggestion ? { suggestion } : undefined,
    );
  }
}

async function suggestAgent(env: Env, user: string, { agency, agent }: AgentRef): Promise<string | undefined> {
  const page = { limit: 500 };
  const { agencies } = await env.User.getByName(user).listAllAgencies(page);
  const ownName = formatAgencyRef(user, parseAgencyRef(user, agency).key);
  if (!agencies.some(({ id }) => id === ownName)) {
    const nearest = findNearest(
      agency,
      agencies.map(({ id }) => id),
    );
    return nearest && `${agent}@${nearest}`;
  }
  const { agents } = await (await enterAgency(env, user, agency)).listAgents(page);
  return findNearest(
    agent,
    agents.map(({ name }) => name),
  );
}

type NamedAgent = NewAgent & { name: string };

function parseNewAgents(job: Job): NamedAgent[] {
  const definitions = job.agents ?? {};
  const count = Object.keys(definitions).length;
  if (count === 0 || count > maxAgents) {
    throw fail("bad_request", `Expected 1 to ${maxAgents} agents in \`agents\`, got ${count}.`, {
      issues: [{ path: ["agents"], message: `expected 1 to ${maxAgents} agents` }],
    });
  }
  return Object.entries(definitions).map(
    ([name, { backend, model, system_prompt: system, tools, max_steps: steps, max_tokens: maxOutputTokens }]) => {
      const props = omitUndefined({
        tools,
        budget: steps === undefined ? undefined : { steps },
        settings: maxOutputTokens === undefined ? undefined : { maxOutputTokens },
      });
      const agent = {
        name,
        ...omitUndefined({ backend, model, system, props: Object.keys(props).length > 0 ? props : undefined }),
      };
      return { ...validate(`agent “${name}”`, newAgentSchema, agent), name };
    },
  );
}

/** A repeated tag (or idempotency key) yields the same agency with its existing agents. */
function chooseAgency(user: string, job: Job): string {
  const { id } = validate("tag", z.object({ id: agencyIdSchema }), { id: `run:${chooseTag(user, job)}` });
  return id;
}

export function chooseTag(user: string, { tag, idempotencyKey }: Pick<Job, "tag" | "idempotencyKey">): string {
  if (tag !== undefined) return tag;
  return idempotencyKey ? sha256(`${user} ${idempotencyKey}`).slice(0, 16) : crypto.randomUUID().slice(0, 8);
}

/** Opens an agency of the user, and creates it if there is none. */
export async function openAgency(env: Env, user: string, agency: string): Promise<void> {
  await enterOrCreate(
    () => enterAgency(env, user, agency),
    () => env.User.getByName(user).createAgency({ id: agency }),
  );
}

async function openAgent(
  env: Env,
  user: string,
  agency: string,
  agent: NamedAgent,
): Promise<Omit<JobAgent, "credentials">> {
  const object = await enterOrCreate(
    () => enterAgent(env, user, agency, agent.name),
    async () => (await enterAgency(env, user, agency)).createAgent(agent),
  );
  return { agent: agent.name, think: env.Think.getByName(object) };
}

const retryDelaysMs = [0, 10, 20, 40, 80, 160, 320];

/** Two jobs with one tag may both find nothing; the second one to create then waits for the first one's result. */
async function enterOrCreate<T>(enter: () => Promise<T>, create: () => Promise<unknown>): Promise<T> {
  const tryEnter = () => enter().catch((error: unknown) => (isNotFound(error) ? undefined : Promise.reject(error)));
  const found = await tryEnter();
  if (found !== undefined) return found;
  try {
    await create();
  } catch (error) {
    if (!isThinkeryError(error) || error.code !== "conflict") throw error;
    for (const ms of retryDelaysMs) {
      await new Promise((resolve) => setTimeout(resolve, ms));
      const entered = await tryEnter();
      if (entered !== undefined) return entered;
    }
    throw error;
  }
  return enter();
}

function isNotFound(error: unknown): error is Error {
  return isThinkeryError(error) && error.code === "not_found";
}

function omitUndefined<T extends Record<string, unknown>>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}
