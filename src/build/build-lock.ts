import { systemClock } from '../client/clock.ts';
import { userError } from '../failures/user-error.ts';
import { describeHolder, type LockHolder, type OutputLock, waitForLock } from '../record/output-lock.ts';

const refreshPatience = 60_000;

/**
 * Takes the lock of an output folder for a build. Waits for a refresh, which is soon over, unlike a build.
 *
 * @param folder the output folder, as people know it.
 * @param log called with what is waited for.
 * @throws AstroError if another build writes to it, or if a refresh takes too long.
 */
export async function lockAfterRefresh(
  file: string,
  folder: string,
  log: (line: string) => void,
): Promise<OutputLock> {
  const until = Date.now() + refreshPatience;
  return waitForLock(file, 'build', {
    onWait: (holder) => log(`Waiting for ${describeHolder(holder)}, to end.`),
    refuse: (holder) =>
      holder.work === 'refresh' && Date.now() < until ? undefined : inUse(file, folder, holder),
    clock: systemClock,
  });
}

function inUse(file: string, folder: string, holder: LockHolder): Error {
  return userError(
    'output-in-use',
    `${folder} is in use by ${describeHolder(holder)}. The lock file is ${file}.`,
  );
}
