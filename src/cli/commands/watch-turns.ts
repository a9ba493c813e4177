import type { UserError } from '../../failures/errors.ts';
import { formatDuration } from '../../text/format.ts';
import { deploy, markForDeploy, needsDeploy } from '../deploy/deployments.ts';
import { runWithLists } from '../deploy/run-command.ts';
import type { NotWritten, WatchEvent } from '../json-output.ts';
import { notWrittenLines } from '../project/describe-snippets.ts';
import { recordedWarnings } from '../project/describe-warnings.ts';
import { checkPatience } from '../project/fetch-changes.ts';
import { readProject } from '../project/open-project.ts';
import { exitCodes, toFailureResult } from '../terminal/exit-codes.ts';
import type { Cli } from '../terminal/terminal.ts';
import { type RefreshOptions, refreshSite } from './refresh.ts';

export interface TurnOptions extends Pick<RefreshOptions, 'skipModified' | 'after'> {
  /** The time between two turns, in milliseconds. */
  every: number;
  /** The command that builds the site, if a refresh is not enough. */
  build?: string | undefined;
  /** The command that deploys the site after changes. */
  exec?: string | undefined;
}

/** Prints an event: as JSON with `--json`, else as `text`. Without a text, only `--json` prints it. */
export type PrintEvent = (event: WatchEvent, text?: string) => void;

/** The state of the site after the refresh of a turn, one round of a watch. */
type TurnResult =
  /** The whole site shows the current content of its snippets. */
  | { kind: 'current' }
  /** A build is needed. `cause` is equal in two turns if the reasons and the contents of snippets are. */
  | { kind: 'needs-build'; cause: string }
  /** There is no usable record, so a build is needed. */
  | { kind: 'no-record' }
  /** The refresh or the command of `--after` failed, and is repeated in the next turn. */
  | { kind: 'unknown' };

/** A build that failed, which is repeated after a pause, or as soon as there is another cause to build. */
interface FailedBuild {
  /** The cause of the build; `undefined` if there was no usable record. */
  cause: string | undefined;
  /** How long to wait before the next build, in milliseconds. Doubled with each failure. */
  pause: number;
  /** When the pause ends, in milliseconds of `cli.clock`. */
  pausedUntil: number;
}

/** The longest pause after a failed build, in milliseconds; a longer `--every` replaces it. */
const maxPause = 600_000;

/**
 * The turns of a watch. Each refreshes the site, builds it if that is not enough, and deploys it if something
 * has changed. Between turns, this remembers what was reported, so that no turn repeats the last one's
 * report, and which build has failed.
 */
export class WatchTurns {
  readonly #options: TurnOptions;
  readonly #print: PrintEvent;
  /** The failure that was reported last, by its codes or message; empty once a refresh has succeeded. */
  #reportedTrouble = '';
  /** The reasons for a build that were reported last, as lines; empty if nothing needs one. */
  #reportedReasons = '';
  #failedBuild: FailedBuild | undefined;

  constructor(options: TurnOptions, print: PrintEvent) {
    this.#options = options;
    this.#print = print;
  }

  /** Makes one turn. @returns whether the site shows what is published, and is deployed */
  async run(cli: Cli): Promise<boolean> {
    const { build, exec } = this.#options;
    let result = await this.#refresh(cli);
    // A failed build removes the record, so `no-record` does not end the pause; another cause to build does.
    const isOtherCause = result.kind === 'needs-build' && result.cause !== this.#failedBuild?.cause;
    if (result.kind === 'current' || isOtherCause) this.#failedBuild = undefined;

    const needsBuild = result.kind === 'needs-build' || result.kind === 'no-record';
    const mayBuild = cli.clock.now() >= (this.#failedBuild?.pausedUntil ?? 0) && !cli.signal?.aborted;
    if (build && needsBuild && mayBuild) {
      const cause = result.kind === 'needs-build' ? result.cause : undefined;
      if (await this.#build(cli, build, cause)) result = { kind: 'current' };
    }

    // After a failed build, the output may be incomplete, so it is not deployed.
    const mayDeploy = !this.#failedBuild && !cli.signal?.aborted;
    if (exec && mayDeploy && (await needsDeploy(await readProject(cli)))) await this.#deploy(cli, exec);

    if (result.kind !== 'current') return false;
    return !exec || !(await needsDeploy(await readProject(cli)));
  }

  async #refresh(cli: Cli): Promise<TurnResult> {
    this.#print({ event: 'checking' });
    try {
      const { result, contentsKey } = await refreshSite(cli, { ...this.#options, patience: checkPatience });
      if (this.#reportedTrouble) this.#print({ event: 'recovered' }, 'The check succeeded again.');
      this.#reportedTrouble = '';

      const { written, warnings, notWritten, after } = result;
      const updated = written.map(({ file }) => `Updated ${file}`);
      if (written.length > 0) this.#print({ event: 'written', written, warnings }, updated.join('\n'));
      this.#reportNotWritten(notWritten);

      if (after?.exitStatus) {
        const text = `The command of --after exited with status ${after.exitStatus}, so what was made from the pages may be out of date. It is run again with the next check.`;
        this.#print({ event: 'after-failed', exitStatus: after.exitStatus }, text);
        return { kind: 'unknown' };
      }
      if (this.#reportedReasons === '') return { kind: 'current' };
      return { kind: 'needs-build', cause: `${this.#reportedReasons}\n${contentsKey}` };
    } catch (thrown) {
      return this.#handleFailure(thrown);
    }
  }

  #handleFailure(thrown: unknown): TurnResult {
    const { exitStatus, error } = toFailureResult(thrown);
    const { message, code, hint } = error;
    if (this.#options.build && exitStatus === exitCodes.needsBuild) {
      this.#reportNotWritten([{ name: 'The site', reason: `has no usable record: ${message} [${code}]` }]);
      return { kind: 'no-record' };
    }

    // Failures are compared by their codes: messages have details that change each time, such as attempts.
    const trouble = (thrown as Partial<UserError>).codes?.join() ?? message;
    if (trouble !== this.#reportedTrouble) {
      const lines = [message, hint, 'The site stays as it is until then.'];
      this.#print({ event: 'trouble', error }, lines.filter(Boolean).join('\n'));
    }
    this.#reportedTrouble = trouble;
    return { kind: 'unknown' };
  }

  #reportNotWritten(notWritten: NotWritten[]) {
    const reasons = notWrittenLines(notWritten).join('\n');
    const advice = this.#options.build ? '' : '\nBuild the site to update these pages.';
    if (reasons && reasons !== this.#reportedReasons) {
      this.#print({ event: 'not-written', notWritten }, reasons + advice);
    }
    this.#reportedReasons = reasons;
  }

  /** Runs the command of `--build`. @returns whether it has built the site */
  async #build(cli: Cli, command: string, cause: string | undefined): Promise<boolean> {
    const { manifest: previousManifest } = await readProject(cli);
    this.#print({ event: 'building' }, 'Building the site.');
    const status = await runWithLists(cli, command);

    // The build may have written another record file, so the record is looked for again.
    const project = await readProject(cli);
    const { recordFile, manifest } = project;
    // A build may have changed any file, even if it has failed.
    if (this.#options.exec) await markForDeploy(project, undefined);
    const hasNewRecord = manifest && manifest.builtAt !== previousManifest?.builtAt;
    if (status === 0 && hasNewRecord) {
      this.#print({ event: 'built', succeeded: true, warnings: recordedWarnings(manifest) });
      this.#failedBuild = undefined;
      this.#reportedReasons = '';
      return true;
    }

    let problem = `left no new record of a build at ${recordFile}`;
    if (status !== 0) problem = `exited with status ${status}`;
    const { every } = this.#options;
    const pause = Math.max(every, Math.min(maxPause, 2 * (this.#failedBuild?.pause ?? every)));
    this.#failedBuild = { cause, pause, pausedUntil: cli.clock.now() + pause };
    const text = `The command of --build ${problem}. It is run again in ${formatDuration(pause, 'long')}, or when something else changes.`;
    this.#print({ event: 'built', succeeded: false, problem, retryMilliseconds: pause }, text);
    return false;
  }

  async #deploy(cli: Cli, command: string) {
    const status = await deploy(cli, command);
    const problem = status ? `exited with status ${status}` : undefined;
    const text = problem && `The command of --exec ${problem}. It is run again with the next check.`;
    this.#print({ event: 'deployed', succeeded: status === 0, problem }, text);
  }
}
