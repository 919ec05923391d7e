// The host parses targets too (`POST /run`), so the parser lives in the sdk.
export { type AgentTarget, parseAgencyId, parseAgencyTarget, parseAgentTarget, parseTarget } from "@thinkery/sdk";
