import type { Scope, Who } from "@thinkery/sdk";
import { globalAgency, hasScope, isThinkeryError } from "@thinkery/sdk";
import { forgetAgencies, getAgenciesSource } from "./agencies.ts";
import { call, setUnauthorizedHandler } from "./host.ts";
import { forgetInbox } from "./inbox.ts";
import { takeCode } from "./login-code.ts";
import { setPageSecret } from "./page-secret.ts";
import { useSource } from "./source.ts";
import { createStore, useStore } from "./store.ts";
import { forgetTeams } from "./team/team.ts";

export type Login =
  | { state: "checking" }
  | { state: "in"; who: Who }
  | { state: "out"; notice?: { title: string; text: string } }
  | { state: "unreachable"; message: string };

const login = createStore<Login>({ state: "checking" });

export const useLogin = () => useStore(login);

/**
 * Whether the user has a scope, in an agency if one is given: it may be that of another user. The host enforces it; this
 * only hides buttons that would be rejected.
 */
export function useHasScope(scope: Scope, agency?: string): boolean {
  const login = useLogin();
  const user = login.state === "in" && agency !== undefined ? login.who.user : undefined;
  const { value } = useSource(user === undefined ? undefined : getAgenciesSource(user));
  const member = value?.items.find(({ id }) => id === agency)?.scopes;
  return login.state === "in" && hasScope(member ?? login.who.scopes, scope);
}

/** The agency that targets without an agency mean for this user. */
export function useDefaultAgency(): string {
  const login = useLogin();
  return login.state === "in" ? login.who.agency : globalAgency;
}

/** Logs in with the code in the address if there is one, otherwise with the cookie. */
export function startLogin(): void {
  setUnauthorizedHandler(endSession);
  // A login link pasted into a tab that already shows the page only changes the fragment.
  window.addEventListener("hashchange", () => {
    const code = takeCode();
    if (code) void logInWithLink(code);
  });
  const code = takeCode();
  void (code ? logInWithLink(code) : checkLogin());
}

export async function logIn(code: string): Promise<void> {
  const { pageSecret, ...who } = await call("login", { body: { code } });
  setPageSecret(pageSecret);
  forgetAgencies();
  forgetInbox();
  forgetTeams();
  login.set({ state: "in", who });
}

export async function logOut(): Promise<void> {
  await call("logout");
  setPageSecret(undefined);
  forgetAgencies();
  forgetInbox();
  forgetTeams();
  login.set({ state: "out", notice: { title: "You are logged out", text: "Open a new login link to log back in." } });
}

/** Checks who is logged in. A page that is logged in stays so while the host is unreachable. */
export async function checkLogin(): Promise<void> {
  try {
    const who = await call("who");
    const current = login.get();
    if (current.state !== "in" || current.who.user !== who.user) login.set({ state: "in", who });
  } catch (error) {
    if (isThinkeryError(error) && error.code === "unauthorized") return endSession();
    if (login.get().state !== "in") login.set({ state: "unreachable", message: getErrorMessage(error) });
  }
}

async function logInWithLink(code: string): Promise<void> {
  try {
    await logIn(code);
  } catch (error) {
    // Opening a used link does not log out a user who is logged in.
    await checkLogin();
    if (login.get().state !== "out") return;
    login.set({ state: "out", notice: { title: "Login failed", text: getErrorMessage(error) } });
  }
}

function endSession(): void {
  const previous = login.get();
  if (previous.state === "out") return;
  forgetAgencies();
  forgetInbox();
  forgetTeams();
  login.set(
    previous.state === "in"
      ? { state: "out", notice: { title: "Your session has ended", text: "Open a new login link to log back in." } }
      : { state: "out" },
  );
}

export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : "Something went wrong.";
}
