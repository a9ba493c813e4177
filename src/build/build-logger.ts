/** What a build reports through: Astro's logger, or the command line. Lines are cleaned there. */
export interface BuildLogger {
  info(line: string): void;
  warn(line: string): void;
}
