import { z } from 'zod';
import { cleanText } from '../text/clean-text.ts';

/** The service's error object (specification, section 2; RFC 9457), safe to show, without its `status`. */
export interface Problem {
  title?: string | undefined;
  detail?: string | undefined;
  type?: string | undefined;
}

const cleanString = z.string().transform(cleanText);
/** A field of the wrong type is dropped, and the other fields stay. */
const optionalCleanString = cleanString.optional().catch(undefined);

/** Reads a body that was sent as `application/problem+json`. Every field may be missing. */
export const problemSchema: z.ZodType<Problem> = z.object({
  title: optionalCleanString,
  detail: optionalCleanString,
  type: optionalCleanString,
});

/** Recognizes a problem without its media type, which some gateways change: all four fields are required. */
export const completeProblemSchema: z.ZodType<Problem> = z.object({
  status: z.int(),
  title: cleanString,
  detail: cleanString,
  type: cleanString,
});
