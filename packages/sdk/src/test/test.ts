/** For tests of your own agents: a throw-away host, and scripted models to play with. Node only. */
export { type HostOptions, startHost, type TestHost } from "./host.ts";
export { script } from "./script.ts";
