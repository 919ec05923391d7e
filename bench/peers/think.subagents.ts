// @cloudflare/think's agent tools as its README shows them: each call is a facet with its own storage.
import { createTeamMessages } from "../kit/model.ts";
import { createThink } from "./think.peer.ts";

export const peer = createThink("think-subagents-worker.ts", createTeamMessages());
