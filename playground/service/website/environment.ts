import type { Hono } from 'hono';
import type { Faults } from '../faults.ts';
import type { Publisher } from '../publisher.ts';
import type { Store } from '../store/index.ts';
import type { Organization } from '../store/organizations.ts';
import type { WebhookSender } from '../webhooks.ts';
import type { Html, PageFacts } from './layout.ts';
import type { Session } from './sessions.ts';

/** What the website stands on. */
export interface WebsiteParts {
  store: Store;
  faults: Faults;
  publisher: Publisher | undefined;
  webhooks: Pick<WebhookSender, 'send'>;
  /** What a site needs in its environment, besides a key. */
  settings: () => Record<string, string>;
  /** Called when a login link was used: it is spent, and another one may be wanted. */
  onSignIn: (organizationId: number) => void;
  /** Writes a new login link to where only the owner of this machine reads it; absent where that cannot be asked for. */
  onLinkWanted: (() => void) | undefined;
}

/** What a request of a page carries on its way. */
export interface WebsiteEnvironment {
  Variables: {
    session: Session;
    organization: Organization;
    /** The site, if it is this organization's. */
    publisher: Publisher | undefined;
  };
}

export type Website = Hono<WebsiteEnvironment>;

declare module 'hono' {
  interface ContextRenderer {
    // biome-ignore lint/style/useShorthandFunctionType: Hono declares an interface.
    (body: Html, page: PageFacts): Response | Promise<Response>;
  }
}
