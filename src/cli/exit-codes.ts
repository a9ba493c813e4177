/** What a script can tell from the exit status of a command. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  /** `refresh`: there are pages that only a full build can bring up to date. */
  needsBuild: 3,
  /** `check`: there are snippets that have changed. */
  changed: 10,
} as const;
