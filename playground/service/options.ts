import type { Certificate } from './certificate.ts';
import type { Faults } from './faults.ts';
import type { Publisher } from './publisher.ts';
import type { Session } from './store/sessions.ts';
import type { SenderOptions } from './webhooks.ts';

/** The options of `startService`. */
export interface ServiceOptions {
  /** The API's port. @default 0, any free port */
  port?: number;
  /** The website's port. @default 0, any free port */
  websitePort?: number;
  /** The path of the database. @default ':memory:' */
  database?: string;
  faults?: Partial<Faults>;
  /** The random numbers that decide which requests fail. @default Math.random */
  random?: () => number;
  /** Awaited before each answer of the API. */
  beforeAnswer?: () => Promise<unknown>;
  /** The site to update when a snippet is published. */
  publisher?: Publisher;
  /** Called when a login link was used. It works once, so a new one may be needed. */
  onSignIn?: (session: Session) => void;
  /**
   * Called when a login link is requested, with the name of the person. Must write it where only the owner of this
   * machine can read it.
   */
  onLinkWanted?: (person: string) => void;
  /** The certificate of the API. @default a new one, from a new authority */
  certificate?: Certificate;
  /** A file with the authority of the certificate, for sites on this machine. */
  authorityFile?: string;
  webhooks?: SenderOptions;
  /** Called with a message if a database of another version was set aside. */
  onSetAside?: (line: string) => void;
}
