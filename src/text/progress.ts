/** For each step of longer work. A line is made only to be shown. */
export type Progress = (describe: () => string) => void;

/** Returns a function for each step, which shows a line now and then. Times are in milliseconds. */
export function paced(
  { first, every }: { first: number; every: number },
  show: (line: string) => void,
  now = (): number => performance.now(),
): Progress {
  let next = now() + first;
  return (describe) => {
    const time = now();
    if (time < next) return;
    next = time + every;
    show(describe());
  };
}
