import { serveStatic } from '@hono/node-server/serve-static';
import { Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { csrf } from 'hono/csrf';
import { html } from 'hono/html';
import { secureHeaders } from 'hono/secure-headers';
import { limits } from '../limits.ts';
import { type ProblemStatus, problemKind, problemKinds, refusalWith } from '../problems.ts';
import { accountPages, personInput, personOf } from './account-pages.ts';
import { developerPages } from './developer-pages.ts';
import { editorScript } from './editor-script.ts';
import type { WebsiteEnvironment, WebsiteParts } from './environment.ts';
import { keyPages } from './key-pages.ts';
import { field, layout } from './layout.ts';
import { pathOf, publicationPages, publicationRegion } from './publication.ts';
import { snippetPages } from './snippet-pages.ts';
import { webhookPages } from './webhook-pages.ts';

const cookie = 'snippets-session';

/** Holds the page that was requested before signing in. */
const wantedCookie = 'snippets-wanted';

/**
 * The website to manage snippets (specification, section 1). Pages are rendered on the server. A login link
 * opens a session, which sees only one organization.
 */
export function createWebsite(parts: WebsiteParts): Hono<WebsiteEnvironment> {
  const website = new Hono<WebsiteEnvironment>();
  const { publisher, store } = parts;
  const { sessions } = store;
  /** @param typed text that would be lost otherwise. */
  const signInPage = (notice: string, typed?: string) =>
    layout(
      { title: 'Sign in' },
      html`<h1>Sign in</h1>
      <p class="card notice" role="status">${notice}</p>
      <p>The service writes a login link to the terminal it was started in. It works once.</p>
      ${
        parts.onLinkWanted &&
        html`<form class="card row" method="post" action="/login">
        ${field('person', 'Your name', personInput(), 'Versions that you publish are marked with it.')}
        <button>Write a new link to the terminal</button>
      </form>`
      }
      ${typed && html`<h2>What you typed</h2><pre tabindex="0">${typed}</pre>`}`,
    );

  website.use(ownNameOnly, csrf(), headers(publisher && new URL(publisher.siteUrl).origin));
  website.use(
    bodyLimit({
      maxSize: limits.body,
      onError: ({ req }) =>
        refusalWith(new URL(req.url).origin)(413, `A request may have ${limits.body} bytes at the most.`),
    }),
  );

  website.get('/assets/code-editor.js', async (context) =>
    context.body(await editorScript(), 200, {
      'content-type': 'text/javascript',
      'cache-control': 'max-age=600',
    }),
  );
  website.get('/assets/*', serveStatic({ root: import.meta.dirname }));
  // The pages for the `type` of a problem (specification, section 2) need no session.
  for (const [status, { explanation, advice }] of Object.entries(problemKinds)) {
    const { title, path } = problemKind(Number(status) as ProblemStatus);
    const body = html`<h1>${status} ${title}</h1>
      <p>${explanation}</p>
      <p class="card notice">${advice}</p>
      <p><a href="/snippets">To the website</a></p>`;
    website.get(path, (context) => context.html(layout({ title: `${status} ${title}` }, body)));
  }

  website.post('/login', async (context) => {
    if (parts.onLinkWanted === undefined) return context.notFound();
    const { person, flaw } = personOf(await context.req.parseBody());
    if (flaw !== undefined) return context.html(signInPage(flaw), 422);
    parts.onLinkWanted(person);
    return context.html(signInPage('A new link is in the terminal.'));
  });
  website.get('/login/:token', (context) => {
    const opened = sessions.open(context.req.param('token'));
    if (opened === undefined) return context.html(signInPage('This link has been used, or is too old.'), 401);
    parts.onSignIn?.(opened);
    setCookie(context, cookie, opened.token, { httpOnly: true, sameSite: 'Lax' });
    const wanted = pathOf(getCookie(context, wantedCookie));
    deleteCookie(context, wantedCookie);
    return context.redirect(wanted, 303);
  });

  website.use(async (context, next) => {
    const token = getCookie(context, cookie) ?? '';
    const session = sessions.get(token);
    const organization = session && store.organizations.get(session.organizationId);
    if (organization === undefined) {
      const { pathname, search } = new URL(context.req.url);
      // A request by a script, such as for the notice about the site, is no page to go back to.
      if (context.req.method === 'GET' && context.req.header('sec-fetch-dest') !== 'empty') {
        const options = { httpOnly: true, sameSite: 'Lax', maxAge: 3_600 } as const;
        setCookie(context, wantedCookie, pathname + search, options);
      }
      const { draft } = context.req.method === 'POST' ? await context.req.parseBody() : {};
      const page =
        typeof draft === 'string'
          ? signInPage('Not saved: you are not signed in any more. What you typed is below.', draft)
          : signInPage('You are not signed in.');
      return context.html(page, 401);
    }
    context.set('organization', organization);
    context.set('person', session?.person ?? null);
    context.set('rename', (person) => sessions.rename(token, person));
    const own = publisher?.organizationId() === organization.id ? publisher : undefined;
    context.set('publisher', own);
    context.header('cache-control', 'no-store');
    context.setRenderer((body, { publication, ...page }) => {
      const region = publicationRegion({ store, organization, publisher: own }, publication);
      const section = `/${context.req.path.split('/')[1]}`;
      return context.html(layout({ section, ...page }, html`${region}${body}`, context.var));
    });
    return next();
  });

  website.get('/', (context) => context.redirect('/snippets', 303));
  website.post('/sign-out', (context) => {
    sessions.end(getCookie(context, cookie) ?? '');
    deleteCookie(context, cookie);
    return context.html(signInPage('You are signed out.'));
  });

  const sections = [snippetPages, publicationPages, keyPages, developerPages, accountPages, webhookPages];
  for (const pages of sections) pages(website, parts);

  website.notFound((context) => {
    context.status(404);
    const body = html`<h1>Not found</h1><p>There is no such page, or it is not this organization's.</p>`;
    return context.render(body, { title: 'Not found' });
  });
  return website;
}

/**
 * Answers only requests to this machine's own name.
 *
 * Other pages in a browser on this machine can reach the loopback interface too: by another name (DNS
 * rebinding), or with a form. SameSite is not enough, since every port of this machine is the same site.
 */
const ownNameOnly: MiddlewareHandler = async ({ req, text }, next) =>
  /^(localhost|127\.0\.0\.1)$/.test(new URL(req.url).hostname)
    ? next()
    : text('This host name is not served here.', 421);

/**
 * Pages load only the site, its styles and its images from elsewhere. Inline styles are allowed for the preview
 * of a snippet, a sandboxed frame without scripts or forms.
 */
const headers = (siteOrigin = '') =>
  secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'", siteOrigin],
      imgSrc: ["'self'", 'data:', siteOrigin],
      fontSrc: [siteOrigin],
      connectSrc: ["'self'"],
      formAction: ["'self'"],
      frameSrc: ["'self'", siteOrigin],
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
    },
    xFrameOptions: 'DENY',
    referrerPolicy: 'same-origin',
    strictTransportSecurity: false,
  });
