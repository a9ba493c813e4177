import type { MiddlewareHandler } from 'hono';
import { secureHeaders } from 'hono/secure-headers';

/**
 * Answers only who asked for this very machine, and lets only the website's own pages change anything.
 *
 * The website is on the loopback interface, but so is every page that a browser on this machine shows: another
 * name could lead here (DNS rebinding), and another page could send a form here. SameSite alone would not do:
 * every port of this machine is the same site.
 */
export function ownPagesOnly(): MiddlewareHandler {
  return async (context, next) => {
    const { host, origin } = new URL(context.req.url);
    const name = host.replace(/:\d+$/, '');
    if (name !== 'localhost' && name !== '127.0.0.1')
      return context.text('This address is not served here.', 421);
    const { method } = context.req;
    if (method !== 'GET' && method !== 'HEAD' && context.req.header('origin') !== origin) {
      return context.text('Changes are accepted from the pages of this website alone.', 403);
    }
    return next();
  };
}

/**
 * Pages load nothing from elsewhere but the site itself and its styles. Inline styles are let through for the preview of a snippet, which is a frame
 * without scripts, forms or an origin of its own.
 */
export function headers(siteOrigin: string | undefined): MiddlewareHandler {
  const site = siteOrigin === undefined ? [] : [siteOrigin];
  return secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'", ...site],
      imgSrc: ["'self'", 'data:'],
      connectSrc: ["'self'"],
      formAction: ["'self'"],
      frameSrc: ["'self'", ...site],
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
    },
    xFrameOptions: 'DENY',
    referrerPolicy: 'same-origin',
    strictTransportSecurity: false,
  });
}
