import { z } from '@hono/zod-openapi';

/** Variant B's answer (specification, section 4.2). */
export const renderedSchema = z
  .object({ content: z.string().openapi({ description: 'The rendered snippet.' }) })
  .openapi('RenderedSnippet');

/**
 * Variant A's answer (specification, section 2, which does not say whether `name` and `content` are always
 * there). Here they are.
 */
export const snippetSchema = z
  .object({
    id: z.int().openapi({ description: 'Identifier of the snippet.', example: 42 }),
    name: z.string().openapi({ description: 'Human-readable name of the snippet.' }),
    content: z.string().openapi({ description: "The snippet's HTML content." }),
  })
  .openapi('Snippet');

/** The id of a snippet. Anything other than a positive whole number is not found. */
export const idSchema = z
  .string()
  .regex(/^[1-9][0-9]{0,15}$/)
  .transform(Number)
  .openapi({
    param: { name: 'id', in: 'path' },
    type: 'integer',
    minimum: 1,
    description: 'Identifier of the snippet.',
    example: 42,
  });

const jsonObject = z.record(z.string(), z.unknown());

/**
 * `params`: a URL-encoded JSON object. Anything else is a 400, which the specification leaves open. If it is
 * given twice, the last one counts.
 */
export const paramsSchema = z
  .string()
  .optional()
  .openapi({
    param: { name: 'params', in: 'query' },
    description: 'A URL-encoded JSON object of variables. Those that the snippet does not use are ignored.',
    example: '{"plan":"pro"}',
  });

/** Reads `params`. Returns `undefined` if it is not a JSON object. */
export function parseParams(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return {};
  try {
    const parsed = jsonObject.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
