import type { Hono } from 'hono';
import type { Faults } from '../faults.ts';
import type { ServiceOptions } from '../index.ts';
import type { Publisher } from '../publisher.ts';
import type { Store } from '../store/index.ts';
import type { Organization } from '../store/organizations.ts';
import type { Snippet, SnippetVersion } from '../store/snippets.ts';
import type { WebhookSender } from '../webhooks.ts';
import type { Html, PageFacts } from './layout.ts';

/** What the website stands on. */
export interface WebsiteParts extends Pick<ServiceOptions, 'publisher' | 'onSignIn' | 'onLinkWanted'> {
  store: Store;
  faults: Faults;
  webhooks: Pick<WebhookSender, 'send'>;
  /** What a site needs in its environment, besides a key. */
  settings: () => Record<string, string>;
}

/** What a request of a page carries on its way. */
export interface WebsiteEnvironment {
  Variables: {
    organization: Organization;
    /** The site, if it is this organization's. */
    publisher: Publisher | undefined;
    /** On the pages of a snippet, as are the next two. */
    snippet: Snippet;
    /** The newest first. */
    versions: readonly SnippetVersion[];
    /** The page of the site to which one goes back. */
    page: string;
  };
}

export type Website = Hono<WebsiteEnvironment>;

declare module 'hono' {
  interface ContextRenderer {
    // biome-ignore lint/style/useShorthandFunctionType: Hono declares an interface.
    (body: Html, page: PageFacts): Response | Promise<Response>;
  }
}
