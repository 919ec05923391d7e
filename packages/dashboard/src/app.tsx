import { useLogin } from "./api/login.ts";
import { Frame } from "./frame/frame.tsx";
import { LoginView } from "./views/login.tsx";
import { UnreachableView } from "./views/unreachable.tsx";

export function App() {
  const login = useLogin();
  switch (login.state) {
    case "checking":
      return <p className="visually-hidden">Loading…</p>;
    case "unreachable":
      return <UnreachableView message={login.message} />;
    case "out":
      return <LoginView notice={login.notice} />;
    case "in":
      return <Frame key={login.who.user} who={login.who} />;
  }
}
