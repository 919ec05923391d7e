import { type Endpoint, endpoints } from "@thinkery/sdk";
import { type Client, createClient } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { ask, deployAgent, putSettings, readLog } from "../kit/user-agent.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { send } from "../kit/wire.ts";
import { teamBodies, teamParams } from "./team-bodies.ts";

// Two users × every route and socket, also of sub-agents. Each has an agency “team” with an agent “alice” and a user
// agent “coded”, whose data names its user, and one of their own. New endpoints are included automatically.

const users = ["ann", "ben"] as const;
type UserName = (typeof users)[number];
const getOther = (user: UserName): UserName => (user === "ann" ? "ben" : "ann");
const getMarker = (user: UserName) => `data-of-${user}-only`;

/** Endpoints of agents that have code. */
const codeEndpoints = ["getSettings", "putSettings", "getAgentCode", "listAgentLogs"];

interface Known {
  token: string;
  id: string;
  /** The sub-agents of “alice”, by agency, with the tasks they work on. */
  subagents: Record<string, { taskId: string; facetName: string }>;
  /** The shared tasks, by agency. */
  teamTasks: Record<string, string>;
}

let host: HostProcess;
const known = {} as Record<UserName, Known>;

beforeAll(async () => {
  host = await startHostProcess();
  for (const user of users) {
    const { token, id } = await host.client.call("createToken", {
      body: { name: getMarker(user), user, scopes: ["admin", "approve"] },
    });
    known[user] = { token, id, subagents: {}, teamTasks: {} };
    const client = createClient({ url: host.url, token });
    const marker = getMarker(user);
    await client.call("putPreferences", { body: { marker } });
    for (const agency of ["team", `team-${user}`]) {
      await client.call("createAgency", { body: { id: agency, name: marker } });
      await client.call("putBlueprint", { params: { agency }, body: { name: "b", description: marker } });
      await client.call("createAgent", { params: { agency }, body: { name: "alice", system: marker } });
      const agent = client.agent(`alice@${agency}`);
      await (await agent.send(marker)).outcome();
      await client.call("putApp", {
        params: { agency, agent: "alice" },
        body: { code: `export default { fetch: () => new Response("${marker}") }` },
      });
      await client.call("editFiles", {
        params: { agency, agent: "alice" },
        body: { edits: [{ write: "a.txt", content: marker }] },
      });
      const params = { agency, agent: "alice" };
      const { taskId } = await client.call("createTask", { params, body: { title: marker } });
      const { facetName } = await client.call("spawnSubagent", { params, body: { taskId, description: marker } });
      known[user].subagents[agency] = { taskId, facetName };
      await client.agent(`alice@${agency}`).schedules().create({ when: "@yearly", input: marker });
      await client.schedules(agency).create({ when: "@yearly", input: marker, agent: "alice" });
      await client.call("createBranch", { params: { agency, agent: "alice" }, body: { name: "try" } });
      await deployCoded(client, agency, marker);
      known[user].teamTasks[agency] = await fillTeam(client, agency, marker);
    }
  }
}, 60_000);

afterAll(() => host?.stop());

/** Gives everything that the members of an agency share the marker. Returns the id of the task. */
async function fillTeam(client: Client, agency: string, marker: string): Promise<string> {
  const params = { agency };
  await client.call("postChannelMessage", {
    params: { agency, channel: "general" },
    body: { content: `@alice ${marker}` },
  });
  await client.call("editDocuments", { params, body: { edits: [{ write: "a.txt", content: marker }] } });
  await client.call("createResource", { params, body: { content: marker } });
  await client.feedback(agency).create({ message: marker });
  await client.tools(agency).put({ name: "lookup", description: marker, mock: marker });
  const workflow = { name: "nobody", agents: { one: { system_prompt: marker } } };
  await client.call("putWorkflow", { params: { workflow: "nobody" }, body: workflow });
  await client.call("createWorkflowRun", { body: { workflow: { ...workflow, kickoff: marker }, tag: agency } });
  return (await client.tasks(agency).create({ title: marker })).id;
}

/** Deploys an agent whose code, settings, state and log have the marker. */
async function deployCoded(client: Client, agency: string, marker: string): Promise<void> {
  const code = `export default defineAgent({
    settings: { word: { type: "text", default: "${marker}" } },
    tools: { tell: { description: "${marker}", execute: () => "${marker}" } },
    async onMessage(message, ctx) {
      ctx.setState({ marker: "${marker}" });
      ctx.log.info("${marker}");
      await ctx.send("${marker}");
    },
  });`;
  await deployAgent(client, "coded", code, { agency, displayName: marker, description: marker });
  await putSettings(client, `coded@${agency}`, { word: marker });
  expect(await ask(client, `coded@${agency}`)).toBe(marker);
  await waitUntil("its log", async () => (await readLog(client, `coded@${agency}`)).length > 0);
}

/** The path below “alice” of a sub-agent that exists in the agency. */
function getSubPath(agency: string, owner: UserName): string {
  const { facetName } = known[owner].subagents[agency] ?? known[owner].subagents.team ?? {};
  return `/sub/${facetName}`;
}

function request(name: string, { method, path, body }: Endpoint, user: UserName, agency: string, below = "") {
  const other = getOther(user);
  const task = (known[other].subagents[agency] ?? known[other].subagents.team)?.taskId ?? "";
  const params: Record<string, string> = {
    agency,
    agent: "alice",
    name: "b",
    id: known[other].id,
    user: other,
    hash: "0".repeat(64),
    path: "a.txt",
    version: "1",
    branch: "try",
    task: name === "updateTeamTask" || name === "claimTeamTask" ? (known[other].teamTasks[agency] ?? task) : task,
    schedule: "schedule-1",
    package: "coded",
    ...teamParams,
    // Whoever is a member of an agency does see it: tests/attack/members.test.ts.
    ...(name === "putMember" || name === "deleteMember" ? { user: "nobody" } : {}),
    ...(codeEndpoints.includes(name) && below === "" ? { agent: "coded" } : {}),
  };
  const target = `alice${below.replace("/sub/", "/")}@${agency}`;
  const bodies: Record<string, unknown> = {
    ...teamBodies,
    login: { code: known[other].token },
    createLoginCode: { user: other },
    createToken: { name: "t", user: other },
    addUser: { name: "x" },
    updateUser: { limits: { agents: 1000 } },
    createAgency: {},
    updateAgency: { vars: {} },
    putMember: {},
    putBlueprint: { name: "b" },
    deployPackage: {
      name: "coded",
      manifest: { type: "agent", runtime: "isolate" },
      code: `export default { fetch: () => new Response("${getMarker(user)}") }`,
    },
    rollbackPackage: {},
    putSettings: { settings: {} },
    createAgent: { name: `new-${crypto.randomUUID()}` },
    invoke: { message: "hello" },
    cancelTurn: {},
    resolveToolCall: { callId: "call-1", output: "done" },
    createWebhook: { name: "deploys" },
    answerApproval: { approved: true },
    approve: { approved: true },
    answerQuestion: { value: "yes" },
    putPolicy: { rules: [] },
    createTask: { title: "Fix it" },
    updateTask: { status: "complete" },
    createSchedule: { when: 3600, input: "hello" },
    previewSchedule: { when: 3600 },
    updateSchedule: { paused: true },
    createAgencySchedule: { when: 3600, input: "hello", agent: "alice" },
    updateAgencySchedule: { paused: true },
    spawnSubagent: { taskId: task },
    putApp: { code: "export default {}" },
    editFiles: { edits: [{ write: "a.txt", content: "x" }] },
    revert: { version: 1, dryRun: true },
    createBranch: { name: `b-${crypto.randomUUID()}` },
    mergeBranch: { dryRun: true },
    putAgencyBudget: { tokens: 1000 },
    putUserBudget: { tokens: 1_000_000 },
    putPreferences: { marker: getMarker(user) },
    run: { agent: target, message: "hello" },
    serve: { agent: target, message: "hello" },
  };
  const filled = path
    .replace("/:agent", `/:agent${below}`)
    .replace(/[:*]([a-z]+)/g, (_, key: string) => params[key] ?? "missing");
  return send({
    port: host.port,
    method,
    path: filled + (name === "listTokens" ? `?user=${other}` : ""),
    headers: {
      authorization: `Bearer ${known[user].token}`,
      ...(body ? { "content-type": "application/json" } : {}),
    },
    ...(body ? { body: JSON.stringify(bodies[name]) } : {}),
  });
}

const all = Object.entries<Endpoint>(endpoints).filter(([, { status }]) => status !== 101);
const inAgency = all.filter(([name, { path }]) => path.includes(":agency") || name === "run" || name === "serve");
const hasSubPath = ({ path }: Endpoint, name: string) =>
  path.includes("/agent/:agent") || name === "run" || name === "serve";

test.each(inAgency)("%s finds nothing in the agency of another user", async (name, endpoint) => {
  // Without a token, nothing can even be found missing.
  const status = endpoint.access === "public" ? 401 : 404;
  for (const user of users) {
    for (const agency of [`team-${getOther(user)}`, getOther(user), "global"])
      for (const below of ["", ...(hasSubPath(endpoint, name) ? [getSubPath(agency, getOther(user))] : [])]) {
        const response = await request(name, endpoint, user, agency, below);
        expect([agency, below, response.status]).toEqual([agency, below, status]);
        expect(response.body).not.toContain(getMarker(getOther(user)));
      }
    for (const key of [
      `team@${getOther(user)}`,
      `team%40${getOther(user)}`,
      `team-${getOther(user)}@${getOther(user)}`,
    ]) {
      const response = await request(name, endpoint, user, key);
      expect([key, [400, status].includes(response.status)]).toEqual([key, true]);
      expect(response.body).not.toContain(getMarker(getOther(user)));
    }
  }
});

test.each(all.filter(([name]) => name !== "shutdown"))(
  "%s never shows data of another user",
  async (name, endpoint) => {
    for (const user of users) {
      if (endpoint.method === "DELETE" && name !== "revokeToken" && name !== "removeUser") continue;
      // The sub-agents of the other's “alice” do not exist below one's own.
      const subPaths = users.map((owner) => getSubPath("team", owner));
      for (const below of ["", ...(hasSubPath(endpoint, name) ? subPaths : [])]) {
        const { body } = await request(name, endpoint, user, "team", below);
        expect(body).not.toContain(getMarker(getOther(user)));
      }
    }
  },
);

test("what names another user directly is refused", async () => {
  const expected = { createToken: 403, createLoginCode: 403, listTokens: 403, revokeToken: 404, shutdown: 403 };
  const ofHost = { listUsers: 403, addUser: 403, updateUser: 403, removeUser: 403 };
  for (const [name, status] of Object.entries({ ...expected, ...ofHost }))
    for (const user of users) {
      const response = await request(name, endpoints[name as keyof typeof endpoints], user, "team");
      expect([name, response.status]).toEqual([name, status]);
    }
});

async function connect(path: string, user: UserName): Promise<{ code?: number; status?: number; frames: string }> {
  const headers = { authorization: `Bearer ${known[user].token}` };
  const socket = new WebSocket(`ws://127.0.0.1:${host.port}${path}`, { headers });
  let frames = "";
  return new Promise((resolve) => {
    socket.on("message", (data) => (frames += String(data)));
    socket.on("close", (code) => resolve({ code, frames }));
    socket.on("unexpected-response", (_, { statusCode = 0 }) => resolve({ status: statusCode, frames }));
    socket.on("error", () => {});
  });
}

/** Every socket of an agent and of its sub-agent, by our endpoints and by the Agents SDK's. */
function listAgentSockets(agency: string, owner: UserName): string[] {
  const sub = getSubPath(agency, owner);
  const endpointPaths = Object.values<Endpoint>(endpoints)
    .filter(({ status }) => status === 101)
    .map(({ path }) => path.replace(":agency", agency).replace(":agent", "alice"));
  return [
    ...endpointPaths.flatMap((path) => [path, path.replace("/alice", `/alice${sub}`)]),
    `/agents/think/${agency}~alice`,
    `/agents/think/${agency}~alice${sub.replace("/sub/", "/sub/think/")}`,
  ];
}

test("no socket opens to an object of another user", async () => {
  for (const user of users) {
    const other = getOther(user);
    for (const agency of [`team-${other}`, other, "global"])
      for (const path of [...listAgentSockets(agency, other), `/agents/agency/${agency}`])
        expect([path, await connect(path, user)]).toEqual([path, { code: 4403, frames: "" }]);
    expect(await connect(`/agents/user/${other}`, user)).toEqual({ code: 4403, frames: "" });
    expect(await connect("/agents/alice/ws", user)).toEqual({ code: 4403, frames: "" });
    for (const path of [`/agents/think/team@${other}~alice`, `/agents/agency/team@${other}`])
      expect([path, await connect(path, user)]).toEqual([path, { code: 4403, frames: "" }]);
    // Both have such an agent, but not with this sub-agent. The Agents SDK has a code of its own for that.
    for (const path of listAgentSockets("team", other).filter((path) => path.includes("/sub/"))) {
      const code = path.startsWith("/agents/") ? 4404 : 4403;
      expect([path, await connect(path, user)]).toEqual([path, { code, frames: "" }]);
    }
  }
});

test("the sockets of one's own agents open, and tell nothing of another user", async () => {
  for (const user of users)
    for (const agency of ["team", `team-${user}`])
      for (const path of [...listAgentSockets(agency, user), `/agents/agency/${agency}`]) {
        const socket = new WebSocket(`ws://127.0.0.1:${host.port}${path}`, {
          headers: { authorization: `Bearer ${known[user].token}` },
        });
        let frames = "";
        let code: number | undefined;
        socket.on("message", (data) => (frames += String(data)));
        socket.on("close", (closed) => (code = closed));
        socket.on("error", () => {});
        await waitUntil(`the first frame at ${path}`, () => code ?? frames);
        expect([path, code, frames.includes(getMarker(getOther(user)))]).toEqual([path, undefined, false]);
        socket.terminate();
      }
});

test("everyone still has their own data", async () => {
  for (const user of users) {
    const client = createClient({ url: host.url, token: known[user].token });
    const { agencies } = await client.call("listAgencies");
    expect(agencies.filter(({ name }) => name === getMarker(user)).map(({ id }) => id)).toEqual([
      "team",
      `team-${user}`,
    ]);
    const params = { agency: `team-${user}`, agent: "alice" };
    expect(JSON.stringify(await client.call("listMessages", { params }))).toContain(getMarker(user));
    expect(await ask(client, `coded@team-${user}`)).toBe(getMarker(user));
    const ofCode = { agency: `team-${user}`, agent: "coded" };
    for (const name of ["getSettings", "getAgentCode", "listAgentLogs"] as const)
      expect([name, JSON.stringify(await client.call(name, { params: ofCode }))]).toEqual([
        name,
        expect.stringContaining(getMarker(user)),
      ]);
    const app = await send({
      port: host.port,
      path: `/agency/team-${user}/agent/alice/app/`,
      headers: { authorization: `Bearer ${known[user].token}` },
    });
    expect(app.body).toBe(getMarker(user));
  }
});
