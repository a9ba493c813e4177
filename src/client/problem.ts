import { z } from 'zod';

/** The service's error object (specification, section 2; RFC 9457). Its texts are cleaned when it is read. */
export interface Problem {
  title?: string | undefined;
  detail?: string | undefined;
  type?: string | undefined;
}

// A field of the wrong type says nothing, and takes nothing from the others.
const text = z.string().optional().catch(undefined);
const problem = z.object({ title: text, detail: text, type: text });

// What section 2 lists, all of it: recognised without its media type, which some gateways rewrite.
const wholeProblem = z.object({
  status: z.int(),
  title: z.string(),
  detail: z.string(),
  type: z.string(),
});

/**
 * Reads a problem from the body of an answer, or nothing where the body is none. Every error of the service
 * is one (section 7), so an error without one comes from something else that stands at this address.
 *
 * @param clean takes each text and makes it fit to be shown.
 */
export function readProblem(
  contentType: string,
  body: string,
  clean: (text: string) => string,
): Problem | undefined {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return undefined;
  }
  const isProblem = /^application\/problem\+json\s*(;|$)/i.test(contentType.trim());
  const parsed = (isProblem ? problem : wholeProblem).safeParse(json);
  if (!parsed.success) return undefined;
  const { title, detail, type } = parsed.data;
  return { title: title && clean(title), detail: detail && clean(detail), type: type && clean(type) };
}
