import { z } from 'zod';
import { cleanText } from './clean-text.ts';

/** What `render` returns (specification, section 4.2). */
export interface RenderedSnippet {
  /** The rendered snippet: HTML, exactly as the service sent it. May be empty. */
  content: string;
}

/** What `retrieve` returns (specification, sections 2 and 4.1, which leave open which fields are always present). */
export interface RetrievedSnippet {
  id: number;
  name?: string | undefined;
  content?: string | undefined;
}

/** The service's error object (specification, section 2; RFC 9457), with its texts cleaned. */
export interface Problem {
  title?: string | undefined;
  detail?: string | undefined;
  type?: string | undefined;
}

/** What the service is asked for. */
export const accept = 'application/json, application/problem+json';

const rendered: z.ZodType<RenderedSnippet> = z.object({ content: z.string() });

const optionalText = z
  .string()
  .nullish()
  .transform((value) => value ?? undefined);
const retrieved: z.ZodType<RetrievedSnippet> = z.object({
  id: z.int(),
  name: optionalText,
  content: optionalText,
});

// A field of the wrong type is dropped without affecting the others.
const problemText = z.string().optional().catch(undefined);
const problem = z.object({ title: problemText, detail: problemText, type: problemText });

// All fields of section 2: recognized even without the media type, which some gateways rewrite.
const completeProblem = z.object({
  status: z.int(),
  title: z.string(),
  detail: z.string(),
  type: z.string(),
});

/** Parses a successful body of variant B. Returns `undefined` if it is cut off, not JSON, or not as specified. */
export function readRendered(body: Uint8Array): RenderedSnippet | undefined {
  return read(rendered, body);
}

/** Parses a successful body of variant A, whose id must be the one that was asked for. */
export function readRetrieved(body: Uint8Array, id: number): RetrievedSnippet | undefined {
  const snippet = read(retrieved, body);
  return snippet?.id === id ? snippet : undefined;
}

/**
 * Parses a problem object. Every error of the service is one (specification, section 7), so an error without one
 * comes from something else at this URL.
 */
export function readProblem(contentType: string, body: Uint8Array): Problem | undefined {
  const isDeclared = /^application\/problem\+json\s*(;|$)/i.test(contentType.trim());
  const found = read<Problem>(isDeclared ? problem : completeProblem, body);
  if (found === undefined) return undefined;
  const { title, detail, type } = found;
  return {
    title: title && cleanText(title),
    detail: detail && cleanText(detail),
    type: type && cleanText(type),
  };
}

function read<T>(schema: z.ZodType<T>, body: Uint8Array): T | undefined {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
  const parsed = schema.safeParse(json);
  return parsed.success ? parsed.data : undefined;
}
