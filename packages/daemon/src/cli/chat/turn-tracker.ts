import type { AgentEvent, AgentStatus, ChatFrame } from "@thinkery/sdk";

/** Tracks from frames whether the agent is busy. */
export class TurnTracker {
  private status: AgentStatus["status"] = "idle";
  private readonly unconfirmed = new Set<string>();
  private readonly openTurns = new Set<string>();
  private isCanceling = false;

  get isBusy(): boolean {
    return this.isWorking || this.unconfirmed.size > 0 || this.openTurns.size > 0;
  }

  private get isWorking(): boolean {
    return this.status !== "idle" && this.status !== "stopped";
  }

  /** Returns whether there is a turn that is not being canceled yet. */
  canCancel(): boolean {
    return this.isBusy && !this.isCanceling;
  }

  markCanceling(): void {
    this.isCanceling = true;
  }

  addMessage(messageId: string): void {
    this.unconfirmed.add(messageId);
  }

  update(frame: ChatFrame | AgentEvent): void {
    switch (frame.type) {
      case "sync":
        this.status = frame.state.status;
        // Drop turns that ended while disconnected.
        if (!this.isWorking && frame.state.queued === 0) this.openTurns.clear();
        break;
      case "status":
        this.status = frame.status;
        break;
      case "task-queued":
        for (const { id } of frame.messages) this.unconfirmed.delete(id);
        this.openTurns.add(frame.taskId);
        break;
      case "error":
        if (frame.id !== undefined) this.unconfirmed.delete(frame.id);
        break;
      case "task-complete":
      case "task-failed":
      case "task-canceled":
        this.openTurns.delete(frame.taskId);
        this.isCanceling = false;
        break;
      default:
    }
    if (!this.isBusy) this.isCanceling = false;
  }
}
