import type { AgentEvent, AgentStatus, ChatFrame } from "@thinkery/sdk";

/** Whether the agent has something to do, as far as its frames tell. */
export class Turns {
  private status: AgentStatus["status"] = "idle";
  private readonly unheard = new Set<string>();
  private readonly open = new Set<string>();
  private canceled = false;

  get busy(): boolean {
    return this.status !== "idle" || this.unheard.size > 0 || this.open.size > 0;
  }

  /** There is a turn, and nobody is canceling it yet. */
  mayCancel(): boolean {
    return this.busy && !this.canceled;
  }

  canceling(): void {
    this.canceled = true;
  }

  said(messageId: string): void {
    this.unheard.add(messageId);
  }

  take(frame: ChatFrame | AgentEvent): void {
    switch (frame.type) {
      case "sync":
        this.status = frame.state.status;
        // Turns that ended while nobody listened.
        if (this.status === "idle" && frame.state.queued === 0) this.open.clear();
        break;
      case "status":
        this.status = frame.status;
        break;
      case "task-queued":
        for (const { id } of frame.messages) this.unheard.delete(id);
        this.open.add(frame.taskId);
        break;
      case "error":
        if (frame.id !== undefined) this.unheard.delete(frame.id);
        break;
      case "task-complete":
      case "task-failed":
      case "task-canceled":
        this.open.delete(frame.taskId);
        this.canceled = false;
        break;
      default:
    }
    if (!this.busy) this.canceled = false;
  }
}
