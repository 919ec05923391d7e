import { Component, type ComponentType, lazy, type ReactNode, Suspense } from "react";
import { Notice } from "./notice.tsx";

/** A component whose code is loaded when it is first shown. */
export function lazily<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const Loaded = lazy(async () => ({ default: await load() })) as unknown as ComponentType<Props>;
  return function Lazily(props: Props) {
    return (
      <Guard>
        <Suspense fallback={<p className="pane-note">Loading…</p>}>
          <Loaded {...props} />
        </Suspense>
      </Guard>
    );
  };
}

/** Its code may be gone: a host that was updated has other files than the page was made of. */
class Guard extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    return (
      <Notice tone="bad" title="This part of the page could not be shown." onRetry={() => window.location.reload()}>
        The host may have been updated, or is away.
      </Notice>
    );
  }
}
