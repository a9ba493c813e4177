import { STATUS_CODES } from 'node:http';
import { z } from '@hono/zod-openapi';

/** The error object (specification, section 2). */
export const problemSchema = z
  .object({
    status: z.int().openapi({ description: 'The original HTTP status code.', example: 404 }),
    title: z
      .string()
      .openapi({ description: 'Short title of the general error type.', example: 'Not Found' }),
    detail: z.string().openapi({ description: 'Description of the specific error.' }),
    type: z.url().openapi({ description: 'A URL pointing to more information about the error.' }),
  })
  .openapi('Problem');

/** A status the service fails with. */
export type ProblemStatus = 400 | 401 | 402 | 403 | 404 | 405 | 413 | 500 | 502 | 503 | 504;

/** The text of the page that explains a status. */
interface ProblemExplanation {
  explanation: string;
  /** The next step for a reader. */
  advice: string;
}

/**
 * Every status the service fails with, and the text of its page. Section 7 of the specification lists 401 to
 * 404 and the server errors. 400, 405 and 413 are ours, for requests that it does not mention.
 */
export const problemKinds: Readonly<Record<ProblemStatus, ProblemExplanation>> = {
  400: {
    explanation: 'The request has a part that cannot be read.',
    advice: 'Send params as one URL-encoded JSON object.',
  },
  401: {
    explanation: 'No valid API key was provided.',
    advice:
      'Send the key as "Authorization: Bearer <API_KEY>". If it was revoked, create another one on the keys page.',
  },
  402: {
    explanation: 'The free trial or subscription of the organization has expired.',
    advice: 'Renew the subscription on the account page. Nothing is lost until then.',
  },
  403: {
    explanation: 'The API key has no permission for the request.',
    advice: 'A public key may retrieve and not render. Use a secret key where it can be kept secret.',
  },
  404: {
    explanation: 'The requested resource does not exist, or the key does not match it.',
    advice:
      'Check the id. A snippet that is not published yet, or that belongs to another organization, is not found either.',
  },
  405: {
    explanation: 'Snippets are only read through the API.',
    advice: 'Use GET. Snippets are changed on the website.',
  },
  413: {
    explanation: 'The request has a longer body than the website accepts.',
    advice: 'Send less: the form says how long a name and a content may be.',
  },
  500: {
    explanation: 'The service failed, or the snippet has a mistake that keeps it from being rendered.',
    advice: 'Try again later. If it stays, look at the snippet in the editor.',
  },
  502: { explanation: 'A part of the service did not answer another one.', advice: 'Try again later.' },
  503: {
    explanation: 'The service cannot answer at the moment.',
    advice: 'Try again, and not before the time in Retry-After where there is one.',
  },
  504: { explanation: 'A part of the service took too long.', advice: 'Try again later.' },
};

/** The title of a kind of problem, and the path of the page that explains it. */
export function problemKind(status: ProblemStatus): { title: string; path: string } {
  const title = STATUS_CODES[status] ?? '';
  return { title, path: `/problems/${title.toLowerCase().replaceAll(' ', '-')}` };
}

/** Makes the answer of a request that failed. */
export type Refuse = (status: ProblemStatus, detail: string, headers?: Record<string, string>) => Response;

/** Makes failed answers, always as `application/problem+json` (specification, section 7). */
export function refusalWith(websiteUrl: string): Refuse {
  return (status, detail, headers = {}) => {
    const { title, path } = problemKind(status);
    const problem = { status, title, detail, type: websiteUrl + path };
    const contentType = { 'content-type': 'application/problem+json' };
    return Response.json(problem, { status, headers: { ...contentType, ...headers } });
  };
}
