/** The Worker's entry: its objects by name, and the handler. */
import { createHandler } from "./http/handler.ts";

export { Supervision } from "./http/supervision.ts";
export { Agency } from "./objects/agency.ts";
export { Think } from "./objects/think.ts";
export { User } from "./objects/user.ts";

export default createHandler();
