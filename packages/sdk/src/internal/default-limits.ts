/** Default limits. Separate from their schemas so that the CLI can use them without loading Zod. */

export const defaultTurnLimits = {
  noProgressSeconds: 600,
  maxAttempts: 3,
  maxCrashes: 2,
  heartbeatSeconds: 3,
  toolTimeoutSeconds: 120,
  hookTimeoutSeconds: 10,
  maxSteps: 64,
};

export const defaultSubagentLimits = {
  maxSteps: 15,
  timeoutSeconds: 600,
  initialCheckSeconds: 30,
  checkIntervalSeconds: 60,
  maxChecks: 10,
  maxActive: 32,
  maxPerTurn: 200,
  maxDepth: 3,
  maxRetained: 200,
  mergeCheckSeconds: 300,
  streamThrottleMs: 50,
  broadcastToolCalls: true,
};

export const defaultSandboxLimits = {
  timeoutSeconds: 30,
  maxTimeoutSeconds: 300,
  queueTimeoutSeconds: 300,
  stallTimeoutSeconds: 20,
  memoryMb: 128,
  maxRunsPerSlot: 250,
};

export const defaultLinuxLimits = {
  timeoutSeconds: 60,
  maxTimeoutSeconds: 600,
  memoryMb: 2048,
  maxProcesses: 8,
  maxProcessesPerCommand: 512,
  network: false,
};

/** Text files are small because they are stored in database rows, whose size Cloudflare limits. */
export const defaultWorkspaceLimits = {
  maxFileMb: 32,
  maxTextFileKb: 1024,
  maxFiles: 10_000,
  maxTotalMb: 512,
  maxTextMb: 64,
  maxBlobMb: 4096,
  retainDays: 0,
  retainVersions: 0,
  blobGraceSeconds: 600,
};
