/** Default limits, apart from their schemas so that the command line can use them without loading zod. */

export const defaultTurnLimits = {
  noProgressSeconds: 600,
  maxAttempts: 3,
  maxCrashes: 2,
  heartbeatSeconds: 3,
  toolTimeoutSeconds: 120,
  hookTimeoutSeconds: 10,
  maxSteps: 64,
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
  network: false,
};

/** Text that is edited together is stored in rows, which are small on Cloudflare. */
export const defaultWorkspaceLimits = {
  maxFileMb: 32,
  maxTextFileKb: 1024,
  maxFiles: 10_000,
  maxTotalMb: 512,
  maxTextMb: 64,
  retainDays: 0,
  retainVersions: 0,
};
