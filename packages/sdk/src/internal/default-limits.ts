/** Default limits, apart from their schemas so that the command line can use them without loading zod. */

export const defaultTurnLimits = {
  noProgressSeconds: 600,
  attempts: 3,
  strikes: 2,
  heartbeatSeconds: 3,
  toolSeconds: 120,
  hookSeconds: 10,
  steps: 64,
};

export const defaultSandboxLimits = {
  seconds: 30,
  mostSeconds: 300,
  waitSeconds: 300,
  silenceSeconds: 20,
  memoryMb: 128,
  runs: 250,
};

export const defaultLinuxLimits = { seconds: 60, mostSeconds: 600, memoryMb: 2048, processes: 8, network: false };

/** Text that is edited together is stored in rows, which are small on Cloudflare. */
export const defaultWorkspaceLimits = {
  fileMb: 32,
  textKb: 1024,
  files: 10_000,
  totalMb: 512,
  textMb: 64,
  keepDays: 0,
  keepVersions: 0,
};
