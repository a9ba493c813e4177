/** Called at each step of longer work. `describe` makes a line about the work, if the line is shown. */
export type Progress = (describe: () => string) => void;

/**
 * Creates a function to call at each step of longer work, however often: it shows a line now and then.
 *
 * @param pace the milliseconds before the first line, and those between two lines.
 */
export function throttledProgress(
  { delay, interval }: { delay: number; interval: number },
  show: (line: string) => void,
  now = (): number => performance.now(),
): Progress {
  let nextLine = now() + delay;
  return (describe) => {
    const time = now();
    if (time < nextLine) return;
    nextLine = time + interval;
    show(describe());
  };
}
