import type { AgentParts } from "./assemble-agent.ts";

/** Ends what is stuck, reports what was spent, and arms the next heartbeat if anything is left to do. */
export async function runHeartbeat(agent: AgentParts): Promise<void> {
  const { heartbeat, queue, store, budgetClient, turnLease, disk, subagents, assignment, lease, team } = agent;
  if (queue.isBusy) {
    // Claims of shared tasks last as long as their holder works.
    team.showActivityIfUsed();
    await Promise.all([turnLease.renew(), disk.reportChange()]);
  }
  queue.checkProgress(Date.now());
  queue.wake();
  assignment.tick(Date.now());
  // An agent that was erased in the meantime has nothing to report.
  const isReported = store.log.last === 0 || (await budgetClient.reportIfDue(queue.isBusy));
  const isTold = queue.isBusy || !lease || (await lease.tellIfDue());
  // A turn may have started while the report was sent.
  if (queue.isBusy || !isReported || !isTold || subagents.isBusy || !(assignment.isReported || assignment.isSuspended))
    await heartbeat.arm();
  else heartbeat.stop();
}
