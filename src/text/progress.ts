/**
 * Called at each step of longer work.
 *
 * @param describe makes a line about the work. Called only if the line is shown.
 */
export type Progress = (describe: () => string) => void;

/** When lines about longer work are shown. */
export interface ProgressPace {
  /** Milliseconds before the first line. */
  delay: number;
  /** Milliseconds between two lines. */
  interval: number;
}

/**
 * Creates a function to call at each step of longer work, however often: it shows a line now and then.
 *
 * @param now returns the current time in milliseconds.
 */
export function throttledProgress(
  { delay, interval }: ProgressPace,
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
