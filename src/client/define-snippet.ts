import type { z } from 'zod';
import { cleanText } from '../text/clean-text.ts';
import { invalidParams } from './params.ts';
import { createRequest, parseSnippetId, type SnippetRequest } from './snippet-request.ts';

/** A schema of zod, or of any library that implements Standard Schema. */
export type ParamsSchema = Pick<z.core.$ZodType, '~standard'>;

/** A snippet with a name in code, and the params it takes. */
export interface SnippetDefinition<Schema extends ParamsSchema | undefined = ParamsSchema | undefined> {
  readonly id: number;
  readonly params: Schema;
}

/** `undefined` if the snippet takes none. */
export type ParamsOf<Schema extends ParamsSchema | undefined> = Schema extends ParamsSchema
  ? NonNullable<Schema['~standard']['types']>['input']
  : undefined;

/**
 * Gives a snippet a name in code, and its params a type that the editor, `astro check` and the build check.
 *
 * @throws SnippetError `invalid-id`
 *
 * @example
 * export const pricing = defineSnippet({ id: 42, params: z.object({ plan: z.enum(['free', 'pro']) }) });
 * // <Snippet of={pricing} params={{ plan: 'pro' }} />
 */
export function defineSnippet<Schema extends ParamsSchema | undefined = undefined>(definition: {
  id: number;
  params?: Schema;
}): SnippetDefinition<Schema> {
  return { id: parseSnippetId(definition.id), params: definition.params as Schema };
}

/** @throws SnippetError `invalid-params`, with all issues that the schema finds. */
export async function definedRequest(
  { id, params: schema }: SnippetDefinition,
  params: unknown,
): Promise<SnippetRequest> {
  if (!schema) {
    if (params === undefined) return createRequest(id);
    throw invalidParams('it is defined without params.', id);
  }
  const result = await schema['~standard'].validate(params);
  if (!result.issues) return createRequest(id, result.value);
  const flaws = result.issues.map(({ path = [], message }) => {
    const keys = path.map((part) => String(typeof part === 'object' ? part.key : part));
    return `${['params', ...keys].join('.')}: ${cleanText(message)}`;
  });
  throw invalidParams(flaws.join('; '), id);
}
