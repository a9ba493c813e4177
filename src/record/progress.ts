/** When longer work says how far it is, in milliseconds. */
export interface ProgressPace {
  first: number;
  every: number;
}

/** Called with each step of longer work; the line is only made where it is shown. */
export type Progress = (describe: () => string) => void;

/** Returns a function that is called with each step, and shows the line of one now and then. */
export function paced(
  { first, every }: ProgressPace,
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
