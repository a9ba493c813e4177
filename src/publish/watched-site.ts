import type { Refresh } from './refresh.ts';

export interface WatchedSiteOptions {
  /** Brings the site up to date, as far as that goes without a build. @throws when the service is in trouble. */
  refresh(): Promise<{ written: string[]; toBuild: Refresh['toBuild'] }>;
  /** What is to be done when pages were written. @returns whether it worked. */
  deploy(): Promise<boolean>;
  say(line: string): void;
}

/**
 * A site that is kept up to date. Each change set is deployed once; one whose command failed is deployed again with
 * the next turn, because the pages are written and nothing else would bring them to the readers.
 */
export class WatchedSite {
  readonly #options: WatchedSiteOptions;
  #trouble: string | undefined;
  #toBuild = '';
  #isToDeploy = false;

  constructor(options: WatchedSiteOptions) {
    this.#options = options;
  }

  async turn(): Promise<void> {
    const { refresh, deploy, say } = this.#options;
    try {
      const { written, toBuild } = await refresh();
      if (this.#trouble !== undefined) say('It works again.');
      this.#trouble = undefined;
      for (const name of written) say(`${name} is up to date`);
      this.#sayToBuild(toBuild);
      this.#isToDeploy ||= written.length > 0;
    } catch (error) {
      this.#sayTrouble(error as Error);
      return;
    }
    if (!this.#isToDeploy) return;
    this.#isToDeploy = !(await deploy());
  }

  #sayToBuild(pages: Refresh['toBuild']): void {
    const said = pages.map(({ name, why }) => `${name} ${why}`).join('\n');
    if (said !== '' && said !== this.#toBuild)
      this.#options.say(`${said}\nIt takes a build to bring that up to date.`);
    this.#toBuild = said;
  }

  /** Said once: what differs from turn to turn, such as the number of attempts, is no news; another advice is. */
  #sayTrouble({ message, hint = '' }: Error & { hint?: string }): void {
    const kind = hint === '' ? message : hint;
    if (kind === this.#trouble) return;
    this.#trouble = kind;
    this.#options.say(
      [message, hint, 'The site stays as it is until that is over.'].filter(Boolean).join('\n'),
    );
  }
}
