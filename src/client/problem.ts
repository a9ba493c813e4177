import { z } from 'zod';
import { cleanText } from '../text/clean-text.ts';

const cleanedText = z.string().transform(cleanText);

// A field of the wrong type is dropped alone.
const problemText = cleanedText.optional().catch(undefined);

export const problemSchema: z.ZodObject<
  {
    title: z.ZodCatch<z.ZodOptional<z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>>>;
    detail: z.ZodCatch<z.ZodOptional<z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>>>;
    type: z.ZodCatch<z.ZodOptional<z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>>>;
  },
  z.core.$strip
> = z.object({ title: problemText, detail: problemText, type: problemText });

/** The service's error object (specification, section 2; RFC 9457), cleaned. */
export type Problem = z.infer<typeof problemSchema>;

// Recognized in any media type: some gateways rewrite it.
export const completeProblem: z.ZodObject<{
  status: z.ZodInt;
  title: z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>;
  detail: z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>;
  type: z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>;
}> = z.object({
  status: z.int(),
  title: cleanedText,
  detail: cleanedText,
  type: cleanedText,
});
