import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { startLogin } from "./api/login.ts";
import { App } from "./app.tsx";
import { applyTheme } from "./frame/theme.ts";
import { ViewRegistryProvider } from "./views/view-registry.ts";
import { viewRegistry } from "./views/views.ts";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/frame.css";
import "./styles/views.css";
import "./styles/chat.css";
import "./styles/merge.css";
import "./styles/entry.css";
import "./styles/call.css";
import "./styles/diff.css";
import "./styles/meter.css";
import "./styles/note.css";
import "./styles/waits.css";

applyTheme();
startLogin();

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <ViewRegistryProvider value={viewRegistry}>
        <App />
      </ViewRegistryProvider>
    </StrictMode>,
  );
}
