import type { Hono } from 'hono';
import type { Faults } from '../faults.ts';
import type { ServiceOptions } from '../options.ts';
import type { Publisher } from '../publisher.ts';
import type { Store } from '../store/index.ts';
import type { Organization } from '../store/organizations.ts';
import type { Snippet, SnippetVersion } from '../store/snippets.ts';
import type { WebhookSender } from '../webhooks.ts';
import type { Html, PageFacts } from './page-facts.ts';

/** The parts of the service that the pages of the website work with. */
export interface WebsiteParts extends Pick<ServiceOptions, 'publisher' | 'onSignIn' | 'onLinkWanted'> {
  store: Store;
  faults: Faults;
  webhooks: Pick<WebhookSender, 'send'>;
  /** Environment variables for a site, besides the key. */
  settings: () => Record<string, string>;
}

/** The types of Hono's context on the website. */
export interface WebsiteEnvironment {
  Variables: {
    organization: Organization;
    /** The name of the person who is signed in, if known. */
    person: string | null;
    /** Changes that name for the session. */
    rename: (person: string | null) => void;
    /** The site, if it belongs to this organization. */
    publisher: Publisher | undefined;
    /** The snippet of the page. Only the pages of a snippet have what follows. */
    snippet: Snippet;
    /** The published versions, newest first. */
    versions: readonly SnippetVersion[];
    /** The page of the site to go back to. */
    page: string;
    /** The published content of any snippet of the organization. */
    publishedContent: (id: number) => string | undefined;
  };
}

export type Website = Hono<WebsiteEnvironment>;

declare module 'hono' {
  interface ContextRenderer {
    // biome-ignore lint/style/useShorthandFunctionType: Hono declares an interface.
    (body: Html, page: PageFacts): Response | Promise<Response>;
  }
}
