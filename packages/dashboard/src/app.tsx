import { useSession } from "./api/session.ts";
import { Frame } from "./frame/frame.tsx";
import { LoginView } from "./views/login.tsx";
import { UnreachableView } from "./views/unreachable.tsx";

export function App() {
  const session = useSession();
  switch (session.state) {
    case "checking":
      return <p className="unseen">Loading…</p>;
    case "unreachable":
      return <UnreachableView message={session.message} />;
    case "out":
      return <LoginView notice={session.notice} />;
    case "in":
      return <Frame key={session.who.user} who={session.who} />;
  }
}
