import { useEffect } from "react";
import { checkLogin } from "../api/login.ts";
import { Button } from "../parts/button.tsx";
import { Logo } from "../parts/logo.tsx";

const retryIntervalMs = 3_000;

/** Shown if the host cannot be reached before the login is known, e.g. when the page came from a cache. */
export function UnreachableView({ message }: { message: string }) {
  useEffect(() => {
    const timer = setInterval(() => void checkLogin(), retryIntervalMs);
    return () => clearInterval(timer);
  }, []);

  return (
    <main className="standalone">
      <Logo size={56} />
      <div role="alert">
        <h1>{message}</h1>
      </div>
      <p className="lead">
        It may be starting or stopped. Check with <code>thinkery status</code>, or start it with{" "}
        <code>thinkery start</code>. This page reconnects automatically.
      </p>
      <Button onClick={() => void checkLogin()}>Retry now</Button>
    </main>
  );
}
