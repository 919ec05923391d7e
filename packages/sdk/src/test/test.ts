/** Tools to test your agents: a disposable host and scripted models. Node only. */
export { type HostOptions, startHost, type TestHost } from "./host.ts";
export { script } from "./script.ts";
