export { isLike } from "../sandbox/wildcard.ts";
