/** Called with each step of longer work; the line is only made where it is shown. */
export type Progress = (describe: () => string) => void;

/** Returns a function that is called with each step, and shows the line of one now and then. Times are in milliseconds. */
export function paced(
  { first, every }: { first: number; every: number },
  show: (line: string) => void,
  now = () => performance.now(),
): Progress {
  let next = now() + first;
  return (describe) => {
    const time = now();
    if (time < next) return;
    next = time + every;
    show(describe());
  };
}
