/** Called at each step of longer work. `describe` makes a line about the work, if the line is shown. */
export type Progress = (describe: () => string) => void;

/**
 * Creates a function to call at each step of longer work. However often it is called, it shows few lines.
 *
 * @param pace `delay` is the time before the first line, `interval` that between two lines, in milliseconds.
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
