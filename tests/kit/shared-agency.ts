import { type Endpoint, endpoints, intersectScopes, type Scope } from "@thinkery/sdk";
import { type Client, createClient } from "@thinkery/sdk/client";
import { type HostProcess, startHostProcess } from "./host-process.ts";
import { deployAgent } from "./user-agent.ts";
import { send, type WireResponse } from "./wire.ts";

// Bob owns the agencies “team”, which he shares, and “private”, which he does not. Both have an agent “alice”.

/** What each member may do in “team”, and the scopes of their token. */
export const members = {
  reader: { scopes: ["read"], token: ["admin"] },
  chatter: { scopes: ["chat"], token: ["admin"] },
  approver: { scopes: ["approve"], token: ["admin"] },
  partner: { scopes: ["chat", "approve"], token: ["admin"] },
  manager: { scopes: ["admin"], token: ["admin"] },
  // Tokens that may do less than the member.
  visitor: { scopes: ["admin"], token: ["read"] },
  writer: { scopes: ["read", "approve"], token: ["chat"] },
  signer: { scopes: ["chat", "approve"], token: ["approve"] },
  // The host's owner is a member like others.
  owner: { scopes: ["chat"], token: ["admin"] },
} as const satisfies Record<string, { scopes: Scope[]; token: Scope[] }>;

export type MemberName = keyof typeof members;
export const memberNames = Object.keys(members) as MemberName[];
/** Who was never a member, and who was one. */
export const outsiders = ["stranger", "former"] as const;

/** Every member may read. */
export const getEffective = (name: MemberName) =>
  intersectScopes([...members[name].scopes, "read"], members[name].token) as readonly string[];

/** In the data of “team”, which its members may see, and of everything else of Bob. */
export const teamMarker = "data-of-bob-only";
export const privateMarker = "private-of-bob-only";
export const userBudget = 123_456_789;

/** Endpoints in an agency that take a token, except sockets, and those that are sockets. */
const inAgency = Object.entries<Endpoint>(endpoints).filter(
  ([, { path, access }]) => path.includes(":agency") && access !== "public",
);
export const plainEndpoints = inAgency.filter(([, { status }]) => status !== 101);
export const socketEndpoints = inAgency.filter(([, { status }]) => status === 101);

interface RequestOptions {
  agency?: string;
  agent?: string;
  headers?: Record<string, string>;
  /** The path of a sub-agent. */
  below?: string;
  body?: unknown;
}

export interface SharedAgency {
  host: HostProcess;
  bob: Client;
  tokens: Record<string, string>;
  issueToken(user: string, scopes: readonly Scope[]): Promise<string>;
  addUser(user: string, scopes?: readonly Scope[]): Promise<Client>;
  getClient(user: string): Client;
  /** Requests what does not exist in “team” by default, so that a request that is let in changes nothing. */
  request(endpoint: Endpoint, user: string, options?: RequestOptions): Promise<WireResponse>;
  stop(): Promise<void>;
}

/** Starts a host where Bob shares an agency with all members. */
export async function openSharedAgency(): Promise<SharedAgency> {
  const host = await startHostProcess();
  const tokens: Record<string, string> = {};
  const clients: Record<string, Client> = {};
  const issueToken = async (user: string, scopes: readonly Scope[]) =>
    (await host.client.call("createToken", { body: { name: "t", user, scopes: [...scopes] } })).token;
  const addUser = async (user: string, scopes: readonly Scope[] = ["admin"]) => {
    const token = await issueToken(user, scopes);
    tokens[user] = token;
    return (clients[user] = createClient({ url: host.url, token }));
  };
  const bob = await addUser("bob");
  await setUp(bob, addUser);
  return {
    host,
    bob,
    tokens,
    issueToken,
    addUser,
    getClient(user) {
      const client = clients[user];
      if (!client) throw new Error(`there is no ${user}`);
      return client;
    },
    request: (endpoint, user, options) => request(host, endpoint, tokens[user], options),
    stop: () => host.stop(),
  };
}

async function setUp(bob: Client, addUser: SharedAgency["addUser"]): Promise<void> {
  for (const [agency, text] of [
    ["team", teamMarker],
    ["private", privateMarker],
  ] as const) {
    await bob.call("createAgency", { body: { id: agency, name: text } });
    await bob.call("createAgent", { params: { agency }, body: { name: "alice", system: text } });
    await (await bob.agent(`alice@${agency}`).send(text)).outcome();
    const params = { agency, agent: "alice" };
    await bob.call("editFiles", { params, body: { edits: [{ write: "a.txt", content: text }] } });
  }
  await deployAgent(bob, "coded", "export default defineAgent({ onMessage() {} });", { agency: "team" });
  await bob.call("putUserBudget", { body: { tokens: userBudget } });
  await bob.call("putPreferences", { body: { secret: privateMarker } });
  for (const name of memberNames) {
    await addUser(name, members[name].token);
    await bob.members("team").put(name, [...members[name].scopes]);
  }
  for (const name of outsiders) await addUser(name);
  await bob.members("team").put("former", ["admin"]);
  await bob.members("team").remove("former");
}

function request(
  host: HostProcess,
  endpoint: Endpoint,
  token: string | undefined,
  { agency = "team@bob", agent = "ghost", headers = {}, below = "", body = {} }: RequestOptions = {},
): Promise<WireResponse> {
  const params: Record<string, string> = {
    agency,
    agent,
    user: "nobody",
    hash: "0".repeat(64),
    path: "ghost.txt",
    version: "1",
  };
  const path = endpoint.path
    .replace("/:agent", `/:agent${below}`)
    .replace(/[:*]([a-z]+)/g, (_, key: string) => params[key] ?? "ghost");
  const hasBody = endpoint.body !== undefined;
  return send({
    port: host.port,
    method: endpoint.method,
    path,
    headers: {
      authorization: `Bearer ${token}`,
      ...(hasBody ? { "content-type": "application/json" } : {}),
      ...headers,
    },
    ...(hasBody ? { body: JSON.stringify(body) } : {}),
  });
}
