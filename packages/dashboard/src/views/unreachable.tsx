import { useEffect } from "react";
import { checkLogin } from "../api/login.ts";
import { Button } from "../parts/button.tsx";
import { Logo } from "../parts/logo.tsx";

const retryIntervalMs = 3_000;

/** The page came from a cache or the host went away before it said who we are. */
export function UnreachableView({ message }: { message: string }) {
  useEffect(() => {
    const timer = setInterval(() => void checkLogin(), retryIntervalMs);
    return () => clearInterval(timer);
  }, []);

  return (
    <main className="alone">
      <Logo size={56} />
      <div role="alert">
        <h1>{message}</h1>
      </div>
      <p className="lead">
        It may be starting, or stopped. See with <code>thinkery status</code>; <code>thinkery start</code> starts it.
        This page goes on by itself as soon as it answers.
      </p>
      <Button onClick={() => void checkLogin()}>Try now</Button>
    </main>
  );
}
