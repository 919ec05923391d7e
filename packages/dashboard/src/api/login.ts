import type { Scope, Who } from "@thinkery/sdk";
import { isThinkeryError } from "@thinkery/sdk";
import { forgetAgencies } from "./agencies.ts";
import { call, setUnauthorizedHandler } from "./host.ts";
import { takeCode } from "./login-code.ts";
import { createStore, useStore } from "./store.ts";

export type Login =
  | { state: "checking" }
  | { state: "in"; who: Who }
  | { state: "out"; notice?: { title: string; text: string } }
  | { state: "unreachable"; message: string };

const login = createStore<Login>({ state: "checking" });

export const useLogin = () => useStore(login);

/** What the person may do here; the host decides, this only spares them buttons that would be refused. */
export function useHasScope(scope: Scope): boolean {
  const now = useLogin();
  return now.state === "in" && (now.who.scopes.includes(scope) || now.who.scopes.includes("admin"));
}

/** Finds out who is at the page: by the code in the address if there is one, else by the cookie. */
export function startLogin(): void {
  setUnauthorizedHandler(endSession);
  // A login link pasted into a tab that has the page already changes only the fragment.
  window.addEventListener("hashchange", () => {
    const code = takeCode();
    if (code) void enterWithLink(code);
  });
  const code = takeCode();
  void (code ? enterWithLink(code) : checkLogin());
}

export async function logIn(code: string): Promise<void> {
  const who = await call("login", { body: { code } });
  forgetAgencies();
  login.set({ state: "in", who });
}

export async function logOut(): Promise<void> {
  await call("logout");
  forgetAgencies();
  login.set({ state: "out", notice: { title: "You are logged out.", text: "Come back with a new link." } });
}

/** Asks the host who we are. A page that is already in stays in while the host cannot be reached. */
export async function checkLogin(): Promise<void> {
  try {
    const who = await call("who");
    const now = login.get();
    if (now.state !== "in" || now.who.user !== who.user) login.set({ state: "in", who });
  } catch (error) {
    if (isThinkeryError(error) && error.code === "unauthorized") return endSession();
    if (login.get().state !== "in") login.set({ state: "unreachable", message: getErrorMessage(error) });
  }
}

async function enterWithLink(code: string): Promise<void> {
  try {
    await logIn(code);
  } catch (error) {
    // A link that was followed twice is no reason to throw out somebody who is in.
    await checkLogin();
    if (login.get().state !== "out") return;
    login.set({ state: "out", notice: { title: "This login link did not work.", text: getErrorMessage(error) } });
  }
}

function endSession(): void {
  const before = login.get();
  if (before.state === "out") return;
  forgetAgencies();
  login.set(
    before.state === "in"
      ? { state: "out", notice: { title: "Your login has ended.", text: "Come back with a new link." } }
      : { state: "out" },
  );
}

export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : "Something went wrong in the page.";
}
