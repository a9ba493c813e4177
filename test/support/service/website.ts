import type { Service } from '../../../playground/service/index.ts';

/** Requests to the website as from a browser without scripts, signed in to an organization. Redirects are not followed. */
export async function signIn(service: Service, organization: number) {
  const { loginLink, websiteUrl: origin } = service;
  const link = await fetch(loginLink(organization), { redirect: 'manual' });
  const cookie = link.headers.get('set-cookie')?.split(';')[0] ?? '';
  const open = (path: string, session = cookie) =>
    fetch(origin + path, { headers: { cookie: session }, redirect: 'manual' });
  return {
    open,
    read: async (path: string) => (await open(path)).text(),
    /** Sends a form. */
    send: (path: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}) =>
      fetch(origin + path, {
        method: 'POST',
        body: new URLSearchParams(fields),
        headers: { cookie, origin, ...headers },
        redirect: 'manual',
      }),
  };
}
