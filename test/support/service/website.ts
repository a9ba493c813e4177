import type { Service } from '../../../playground/service/index.ts';

/** A browser without scripts that is signed in. Redirects are not followed. */
export interface Visitor {
  open(path: string, session?: string): Promise<Response>;
  /** The text of a page. */
  read(path: string): Promise<string>;
  /** Sends a form. */
  send(path: string, fields?: Record<string, string>, headers?: Record<string, string>): Promise<Response>;
}

/** Signs in to an organization on the playground's website. */
export async function signIn(service: Service, organization: number, person?: string): Promise<Visitor> {
  const { loginLink, websiteUrl: origin } = service;
  const link = await fetch(loginLink(organization, person), { redirect: 'manual' });
  const cookie = link.headers.get('set-cookie')?.split(';')[0] ?? '';
  const open = (path: string, session = cookie) =>
    fetch(origin + path, { headers: { cookie: session }, redirect: 'manual' });
  return {
    open,
    read: async (path) => (await open(path)).text(),
    send: (path, fields = {}, headers = {}) =>
      fetch(origin + path, {
        method: 'POST',
        body: new URLSearchParams(fields),
        headers: { cookie, origin, ...headers },
        redirect: 'manual',
      }),
  };
}
