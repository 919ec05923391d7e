import { fail } from "@thinkery/sdk";

/**
 * The file that an address is about, as it was written and decoded once. The router would leave a percent sign alone
 * that begins nothing, and then one file had two addresses.
 */
export function readFilePath(address: string): string {
  const { pathname } = new URL(address);
  const [, written = ""] = /^\/agency\/[^/]+\/agent\/[^/]+\/files\/(.*)$/s.exec(pathname) ?? [];
  try {
    return decodeURIComponent(written);
  } catch {
    throw fail("bad_request", "The address is not valid: a percent sign in it begins no character.");
  }
}
