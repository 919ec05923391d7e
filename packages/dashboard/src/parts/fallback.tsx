import { Component, type ReactNode } from "react";

interface FallbackProps {
  children: ReactNode;
  /** Renders the replacement for children that throw. */
  render(): ReactNode;
}

/** Error boundary: keeps an error in one part of the page from breaking the rest. */
export class Fallback extends Component<FallbackProps, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    return this.state.failed ? this.props.render() : this.props.children;
  }
}
