import { fail, type ThinkeryError } from "@thinkery/sdk";

// What every adapter of `ContextStore` throws.

export const createChannelTakenError = (name: string): ThinkeryError =>
  fail("conflict", `There is already a channel “${name}”.`);

export const createNoChannelError = (name: string): ThinkeryError =>
  fail("not_found", `There is no channel “${name}”.`);

export const createNoThreadError = (thread: number, channel: string): ThinkeryError =>
  fail("not_found", `There is no message ${thread} in “${channel}” to answer.`);

export const createKeyUsedError = (key: string): ThinkeryError =>
  fail("conflict", `A message with the key “${key}” was posted already.`);

export const createItemExistsError = (agent: string, message: number): ThinkeryError =>
  fail("conflict", `Message ${message} is in the inbox of “${agent}” already.`);
