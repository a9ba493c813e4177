/** The exit statuses of all commands. */
export const exitCodes = {
  ok: 0,
  /** `check` found a change. */
  changed: 10,
  /** There is no usable record of a build, or a refresh cannot update everything. */
  needsBuild: 3,
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
} as const;
