// Every client may find its host restarting, so the persistence is the sdk's.
export { persist } from "@thinkery/sdk/client";
