import type { MiddlewareHandler } from 'hono';
import { csrf } from 'hono/csrf';
import { secureHeaders } from 'hono/secure-headers';

/**
 * Answers only who asked for this very machine, and lets only the website's own pages change anything.
 *
 * The website is on the loopback interface, but so is every page that a browser on this machine shows: another
 * name could lead here (DNS rebinding), and another page could send a form here. SameSite alone would not do:
 * every port of this machine is the same site.
 */
export function ownPagesOnly(): MiddlewareHandler[] {
  const ownName: MiddlewareHandler = async ({ req, text }, next) =>
    /^(localhost|127\.0\.0\.1)$/.test(new URL(req.url).hostname)
      ? next()
      : text('This address is not served here.', 421);
  return [ownName, csrf()];
}

/**
 * Pages load nothing from elsewhere but the site itself and its styles. Inline styles are let through for the preview of a snippet, which is a frame
 * without scripts, forms or an origin of its own.
 */
export function headers(siteOrigin = ''): MiddlewareHandler {
  return secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'", siteOrigin],
      imgSrc: ["'self'", 'data:'],
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
}
