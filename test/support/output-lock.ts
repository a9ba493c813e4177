import type { LockHolder } from '../../src/record/output-lock.ts';

/** What a build of another machine says about itself in its lock. */
export const holderElsewhere = (): LockHolder => ({
  work: 'build',
  token: 'other',
  pid: 1,
  host: 'build-2',
  since: new Date().toISOString(),
});
