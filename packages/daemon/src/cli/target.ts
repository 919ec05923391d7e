// The host reads targets too (`POST /run`), so the reading is the sdk's.
export { type AgentTarget, parseAgencyId, parseAgencyTarget, parseAgentTarget, parseTarget } from "@thinkery/sdk";
