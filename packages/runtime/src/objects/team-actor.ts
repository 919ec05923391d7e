export type { Actor } from "../agency/actor.ts";
