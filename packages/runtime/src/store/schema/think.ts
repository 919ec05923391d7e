import type { Schema } from "../migrate.ts";
import { agentMigrations } from "./agent.ts";
import { fileMigrations } from "./files.ts";

/** Everything that an agent's object stores. A feature with tables of its own adds its migrations here. */
export const thinkSchema: Schema = { agent: agentMigrations, files: fileMigrations };

/** How many steps each had when one number counted them all. */
export const formerThinkSteps = { agent: 4, files: 2 };
