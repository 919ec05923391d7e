/** The default agency of the host's owner. */
export const globalAgency = "global";

/** The user of the admin token. Only this user's `admin` is the host's; that of others covers what is theirs. */
export const ownerUser = "owner";

/** Returns the agency that `/agents` and targets without an agency mean. */
export function getDefaultAgency(user: string): string {
  return user === ownerUser ? globalAgency : user;
}

/** Returns the user that a token names. One that names none can only be the admin token. */
export function readTokenUser(token: string | undefined): string {
  const name = /^thk_([A-Za-z0-9_-]+)\./.exec(token ?? "")?.[1];
  if (!name) return ownerUser;
  try {
    return atob(name.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return ownerUser;
  }
}
