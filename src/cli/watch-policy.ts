/** What a watch knows from one turn to the next. */
export interface WatchState {
  /** Pages were written or built, and the deploy command has not succeeded since. */
  needsDeploy: boolean;
  /** What was made from the pages is out of date, so the site must not be deployed. */
  isUnfinished: boolean;
  /** What only a build can update: differs when something else has to be built. */
  toBuild: string | undefined;
  /** Builds that failed in a row. */
  failures: number;
  /** When the next build may begin, in milliseconds on the caller's clock. */
  buildAt: number;
}

/** What has just happened. */
export type WatchEvent =
  | { kind: 'checked'; written: boolean; toBuild?: string | undefined }
  /** The service is in trouble, so nothing is known. */
  | { kind: 'trouble' }
  /** What was made from the pages is out of date. */
  | { kind: 'unfinished' }
  | { kind: 'built' | 'deployed'; succeeded: boolean };

export interface WatchConditions {
  /** Whether there is a build command. */
  canBuild: boolean;
  /** In milliseconds. */
  now: number;
  /** The time between two turns, in milliseconds. */
  every: number;
}

export type WatchAction = 'build' | 'deploy' | 'wait';

/** In `toBuild`: there is no usable record, so nothing can be said of the site. */
export const noRecord = 'no record';

const longestPause = 600_000;

/** How long to wait after a number of failed builds in a row, in milliseconds. */
export function buildPause(failures: number, every: number): number {
  return Math.max(every, Math.min(longestPause, every * 2 ** failures));
}

/** Decides what a watch does next. Pure, so that the policy can be read and tested as a table. */
export function nextAction(
  state: WatchState,
  event: WatchEvent,
  { canBuild, now, every }: WatchConditions,
): { state: WatchState; action: WatchAction } {
  switch (event.kind) {
    case 'trouble':
      return deployOrWait(state);
    case 'unfinished':
      return { state: { ...state, needsDeploy: true, isUnfinished: true }, action: 'wait' };
    case 'checked': {
      const needsDeploy = state.needsDeploy || event.written;
      const { toBuild } = event;
      if (toBuild === undefined || !canBuild) return deployOrWait({ ...idle, needsDeploy });
      const next = { ...(isSame(toBuild, state) ? state : { ...idle, buildAt: now }), needsDeploy, toBuild };
      return { state: next, action: now >= next.buildAt ? 'build' : 'wait' };
    }
    case 'built': {
      if (event.succeeded) return deployOrWait({ ...idle, needsDeploy: true });
      const failures = state.failures + 1;
      return {
        state: { ...state, failures, buildAt: now + buildPause(failures, every) },
        action: 'wait',
      };
    }
    case 'deployed':
      return { state: { ...state, needsDeploy: !event.succeeded }, action: 'wait' };
  }
}

/** The state of a watch that has just begun. */
export const idle: Readonly<WatchState> = {
  needsDeploy: false,
  isUnfinished: false,
  toBuild: undefined,
  failures: 0,
  buildAt: 0,
};

/** A build that fails leaves no record. That is no other thing to build. */
function isSame(toBuild: string, { toBuild: before, failures }: WatchState): boolean {
  return toBuild === before || (toBuild === noRecord && failures > 0);
}

/** Neither what a failed build has left in the output nor an old search index must be deployed. */
function deployOrWait(state: WatchState): { state: WatchState; action: WatchAction } {
  const { needsDeploy, isUnfinished, failures } = state;
  return { state, action: needsDeploy && !isUnfinished && failures === 0 ? 'deploy' : 'wait' };
}
