/** What the code of user agents imports as `@thinkery/sdk/agent`. */
export * from "@thinkery/sdk/agent";
