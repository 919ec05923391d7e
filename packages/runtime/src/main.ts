/** The stock Worker, which `npm start` runs. */
import { AgentSystem } from "./agent-system.ts";

export const { Think, Agency, User, Supervision, handler } = new AgentSystem().defaults().export();

export default handler;
