import { expect, test } from 'vitest';
import {
  buildPause,
  idle,
  nextAction,
  noRecord,
  type WatchAction,
  type WatchEvent,
  type WatchState,
} from '../../src/cli/watch-policy.ts';

const now = 1_000_000;
const every = 30_000;
const waiting: WatchState = { ...idle, toBuild: 'a.html', failures: 2, buildAt: now + 1 };
const undeployed: WatchState = { ...idle, needsDeploy: true };
const unfinished: WatchState = { ...undeployed, isUnfinished: true };
const written: WatchEvent = { kind: 'checked', written: true };
const nothing: WatchEvent = { kind: 'checked', written: false };
const toBuild = (what: string): WatchEvent => ({ kind: 'checked', written: false, toBuild: what });

test.each<[name: string, canBuild: boolean, WatchState, WatchEvent, WatchAction, state: Partial<WatchState>]>(
  [
    ['waits when nothing has changed', true, idle, nothing, 'wait', idle],
    ['deploys what was written', true, idle, written, 'deploy', { needsDeploy: true }],
    ['deploys again what failed to deploy', true, undeployed, nothing, 'deploy', { needsDeploy: true }],
    ['deploys again while the service is in trouble', true, undeployed, { kind: 'trouble' }, 'deploy', {}],
    ['waits while the service is in trouble', true, idle, { kind: 'trouble' }, 'wait', idle],
    [
      'deploys nothing while what was made from written pages is out of date',
      true,
      idle,
      { kind: 'unfinished' },
      'wait',
      { needsDeploy: true, isUnfinished: true },
    ],
    [
      'deploys nothing that is out of date while the service is in trouble',
      true,
      unfinished,
      { kind: 'trouble' },
      'wait',
      unfinished,
    ],
    ['deploys when nothing is out of date any more', true, unfinished, nothing, 'deploy', undeployed],
    [
      'deploys what was built after something was out of date',
      true,
      unfinished,
      { kind: 'built', succeeded: true },
      'deploy',
      undeployed,
    ],
    [
      'builds where something is out of date that a refresh cannot update',
      true,
      unfinished,
      toBuild('index.js'),
      'build',
      { needsDeploy: true },
    ],
    ['waits for a build by hand without a build command', false, idle, toBuild('a.html'), 'wait', idle],
    [
      'deploys the pages that were written without a build command',
      false,
      idle,
      { ...written, toBuild: 'a.html' },
      'deploy',
      { needsDeploy: true },
    ],
    ['builds what a refresh cannot update', true, idle, toBuild('a.html'), 'build', { toBuild: 'a.html' }],
    ['builds where there is no record', true, idle, toBuild(noRecord), 'build', { toBuild: noRecord }],
    [
      'builds instead of deploying alone',
      true,
      undeployed,
      toBuild('a.html'),
      'build',
      { needsDeploy: true },
    ],
    ['waits after a failed build', true, waiting, toBuild('a.html'), 'wait', waiting],
    [
      'builds again when the pause is over',
      true,
      { ...waiting, buildAt: now },
      toBuild('a.html'),
      'build',
      { failures: 2 },
    ],
    [
      'builds at once, and counts from one again, when something else has to be built',
      true,
      waiting,
      toBuild('b.html'),
      'build',
      { toBuild: 'b.html', failures: 0 },
    ],
    [
      'waits on when the failed build has left no record',
      true,
      waiting,
      toBuild(noRecord),
      'wait',
      { toBuild: noRecord, failures: 2, buildAt: now + 1 },
    ],
    [
      'builds at once when there is a record again after a build without one',
      true,
      { ...waiting, toBuild: noRecord },
      toBuild('a.html'),
      'build',
      { failures: 0 },
    ],
    ['forgets failed builds when nothing has to be built any more', true, waiting, nothing, 'wait', idle],
    [
      'does not deploy what a failed build has left',
      true,
      { ...waiting, needsDeploy: true },
      { kind: 'trouble' },
      'wait',
      { needsDeploy: true },
    ],
    [
      'deploys what was built',
      true,
      { ...waiting, buildAt: now },
      { kind: 'built', succeeded: true },
      'deploy',
      { needsDeploy: true, failures: 0, toBuild: undefined },
    ],
    [
      'waits twice as long after the third failed build as after the second',
      true,
      waiting,
      { kind: 'built', succeeded: false },
      'wait',
      { failures: 3, buildAt: now + 240_000, toBuild: 'a.html', needsDeploy: false },
    ],
    [
      'waits after a deployment',
      true,
      undeployed,
      { kind: 'deployed', succeeded: true },
      'wait',
      { needsDeploy: false },
    ],
    [
      'remembers a deployment that failed',
      true,
      undeployed,
      { kind: 'deployed', succeeded: false },
      'wait',
      { needsDeploy: true },
    ],
  ],
)('a watched site %s', (_name, canBuild, state, event, action, expected) => {
  const next = nextAction(state, event, { canBuild, now, every });
  expect(next.action).toBe(action);
  expect(next.state).toMatchObject(expected);
});

test.each([
  [1, 30_000, 60_000],
  [2, 30_000, 120_000],
  [4, 30_000, 480_000],
  [5, 30_000, 600_000],
  [5_000, 30_000, 600_000],
  [1, 3_600_000, 3_600_000],
])('the pause after %d failed builds, checking every %d ms, is %d ms', (failures, interval, expected) => {
  expect(buildPause(failures, interval)).toBe(expected);
});
